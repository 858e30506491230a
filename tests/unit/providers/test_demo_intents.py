"""Every phrase the demo model understands, with exactly the move it leads to."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.providers.demo import answers
from hermes.providers.demo.conversation import Conversation
from hermes.providers.demo.intents import INTENTS
from hermes.providers.demo.moves import Move, Say, Use
from hermes.providers.demo.plan import plan


def only_move(request: str, *earlier: str) -> Move:
    moves = plan(Conversation(request=request, earlier=earlier))
    assert len(moves) == 1
    return moves[0]


TOOL_REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("what files are there?", "list_files", {"path": "."}),
    ("Which files do you have?", "list_files", {"path": "."}),
    ("Hi! Can you list the files, please?", "list_files", {"path": "."}),
    ("show me the files in this folder", "list_files", {"path": "."}),
    ("what's in here?", "list_files", {"path": "."}),
    ("What\u2019s in the workspace?", "list_files", {"path": "."}),
    ("ls", "list_files", {"path": "."}),
    ("ls src", "list_files", {"path": "src"}),
    ("list all files in the src folder", "list_files", {"path": "src"}),
    ("what's in the docs folder?", "list_files", {"path": "docs"}),
    ("what is in the folder docs", "list_files", {"path": "docs"}),
    ("show me src/", "list_files", {"path": "src/"}),
    ("read notes.txt", "read_file", {"path": "notes.txt"}),
    ("READ NOTES.TXT.", "read_file", {"path": "NOTES.TXT"}),
    ("please read the file notes.txt", "read_file", {"path": "notes.txt"}),
    ("show me README.md", "read_file", {"path": "README.md"}),
    ("could you open 'my notes.txt' for me?", "read_file", {"path": "my notes.txt"}),
    ("cat src/app.py", "read_file", {"path": "src/app.py"}),
    ("what is in notes.txt?", "read_file", {"path": "notes.txt"}),
    ("what does notes.txt say?", "read_file", {"path": "notes.txt"}),
    ("show me the contents of README", "read_file", {"path": "README"}),
    ("read ../../etc/passwd", "read_file", {"path": "../../etc/passwd"}),
    ("run `uname -a`", "terminal", {"command": "uname -a"}),
    ("can you run `uname -a` for me?", "terminal", {"command": "uname -a"}),
    ("run ls -la", "terminal", {"command": "ls -la"}),
    ("execute the command wc -l notes.txt please", "terminal", {"command": "wc -l notes.txt"}),
    ("Run date.", "terminal", {"command": "date"}),
    ("run ls .", "terminal", {"command": "ls ."}),
    ("python3 --version", "terminal", {"command": "python3 --version"}),
    ("echo hello world", "terminal", {"command": "echo hello world"}),
    ("what time is it?", "terminal", {"command": "date"}),
    ("what's the date today?", "terminal", {"command": "date"}),
    ("what day is it?", "terminal", {"command": "date"}),
    ("where are you?", "terminal", {"command": "pwd"}),
    ("what is your working directory?", "terminal", {"command": "pwd"}),
    ("which operating system is this?", "terminal", {"command": "uname -a"}),
    ("how much disk space is left?", "terminal", {"command": "df -h"}),
    ("how long has this machine been up?", "terminal", {"command": "uptime"}),
    ("write hello to hello.txt", "write_file", {"path": "hello.txt", "content": "hello\n"}),
    (
        'Write "hello world" into a file called greetings/hello.txt, please',
        "write_file",
        {"path": "greetings/hello.txt", "content": "hello world\n"},
    ),
    (
        "create a file notes.txt with milk and bread",
        "write_file",
        {"path": "notes.txt", "content": "milk and bread\n"},
    ),
    (
        "create a new file named `to do.txt` containing the text: Hello there!",
        "write_file",
        {"path": "to do.txt", "content": "Hello there!\n"},
    ),
    ("save buy milk as todo.md", "write_file", {"path": "todo.md", "content": "buy milk\n"}),
    ("write to a.txt: one\ntwo", "write_file", {"path": "a.txt", "content": "one\ntwo\n"}),
    ("create an empty file empty.txt", "write_file", {"path": "empty.txt", "content": ""}),
    (
        "replace milk with tea in notes.txt",
        "patch_file",
        {"path": "notes.txt", "old_text": "milk", "new_text": "tea"},
    ),
    ("search for TODO", "search_files", {"pattern": "TODO", "path": "."}),
    ("find TODO", "search_files", {"pattern": "TODO", "path": "."}),
    ("find all files containing TODO", "search_files", {"pattern": "TODO", "path": "."}),
    ("grep 'buy milk' in notes.txt", "search_files", {"pattern": "buy milk", "path": "notes.txt"}),
    ("search for f(x) in the files", "search_files", {"pattern": r"f\(x\)", "path": "."}),
]


@pytest.mark.parametrize(("request_", "tool", "arguments"), TOOL_REQUESTS)
def test_a_request_for_work_becomes_exactly_this_tool_use(
    request_: str, tool: str, arguments: dict[str, Any]
) -> None:
    assert only_move(request_) == Use(tool, arguments)


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ("hello", answers.GREETING),
        ("Hi there!", answers.GREETING),
        ("good morning", answers.GREETING),
        ("who are you?", answers.ABOUT),
        ("What are you", answers.ABOUT),
        ("are you an AI?", answers.ABOUT),
        ("what can you do?", answers.HELP),
        ("help", answers.HELP),
        ("tell me a story", answers.STORY),
        ("please write a long answer", answers.LONG_ANSWER),
        ("thanks!", answers.THANKS),
        ("goodbye", answers.GOODBYE),
        ("count to 3", "1, 2, 3."),
        ("count from 7 to 9, please", "7, 8, 9."),
        ("count down from 2", "2, 1, 0."),
    ],
)
def test_a_request_for_words_is_answered_with_exactly_these(request_: str, text: str) -> None:
    assert only_move(request_) == Say(text)


def test_counting_stops_before_it_becomes_a_flood() -> None:
    move = only_move("count to 999999999")
    assert isinstance(move, Say)
    assert move.text.endswith("499, 500 … I stop after 500 numbers.")


def test_the_answers_about_itself_say_it_is_no_ai_and_how_to_connect_one() -> None:
    for text in (answers.ABOUT, answers.HELP):
        assert "not an AI" in text
        for setting in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HERMES_MODEL", "ANTHROPIC_API_KEY"):
            assert setting in text
        assert "config.yaml" in text


def test_every_example_it_gives_is_one_it_understands() -> None:
    for line in answers.EXAMPLES.splitlines():
        example = line.removeprefix("- ").split(" (and later")[0].split(", or:")[0]
        move = plan(Conversation(request=example))[0]
        assert not (isinstance(move, Say) and move.text.startswith("You wrote")), example


def test_a_question_it_does_not_understand_is_echoed_with_examples() -> None:
    move = only_move("What is the capital of France?")
    assert isinstance(move, Say)
    assert move.text.startswith('You wrote: "What is the capital of France?".')
    assert answers.EXAMPLES in move.text


@pytest.mark.parametrize("command", ["rm -rf /", "ls; rm x", "cat /etc/passwd", "curl example.org"])
def test_a_command_off_the_list_is_declined(command: str) -> None:
    assert only_move(f"run `{command}`") == Say(answers.declined_command(command))


@pytest.mark.parametrize(
    ("request_", "command"),
    [
        ("run `rm -r build`", "rm -r build"),
        ("please run rm -rf build", "rm -rf build"),
        ("delete the build folder", "rm -r build"),
        ("remove the folder old/build", "rm -r old/build"),
    ],
)
def test_what_people_are_asked_about_is_dared(request_: str, command: str) -> None:
    assert only_move(request_) == Use("terminal", {"command": command})


@pytest.mark.parametrize("command", ["rm -r .", "rm -r ..", "rm build", "rm -r", "rm -r a/../.."])
def test_nothing_but_a_named_file_of_the_workspace_is_deleted(command: str) -> None:
    assert only_move(f"run `{command}`") == Say(answers.declined_command(command))


def test_two_wishes_become_two_tool_uses_in_order() -> None:
    request = "create a file hello.txt with Hello there! and then read it"
    assert plan(Conversation(request=request)) == (
        Use("write_file", {"path": "hello.txt", "content": "Hello there!\n"}),
        Use("read_file", {"path": "hello.txt"}),
    )


def test_three_wishes_become_three_tool_uses() -> None:
    request = "Write hi to a.txt, then read it. Then list the files"
    assert plan(Conversation(request=request)) == (
        Use("write_file", {"path": "a.txt", "content": "hi\n"}),
        Use("read_file", {"path": "a.txt"}),
        Use("list_files", {"path": "."}),
    )


def test_an_and_inside_the_content_does_not_start_another_step() -> None:
    assert only_move("create a file list.txt with buy milk and read books") == Use(
        "write_file", {"path": "list.txt", "content": "buy milk and read books\n"}
    )


def test_earlier_messages_are_listed_when_asked_for() -> None:
    move = only_move("what did I say before?", "hello", "read notes.txt")
    expected = "Earlier in this conversation you wrote:\n\n1. hello\n2. read notes.txt"
    assert move == Say(expected)


def test_the_first_and_the_last_message_can_be_asked_for() -> None:
    earlier = ("hello", "read notes.txt")
    assert only_move("what was my first message?", *earlier) == Say(
        "Your first message was:\n\n> hello"
    )
    assert only_move("repeat my last question", *earlier) == Say(
        "Your last message was:\n\n> read notes.txt"
    )


def test_without_history_it_says_how_to_send_one() -> None:
    for request in ("do you remember me?", "what was my first message?"):
        move = only_move(request)
        assert isinstance(move, Say)
        assert "same session" in move.text


@pytest.mark.parametrize(
    ("told", "asked", "answer"),
    [
        ("my name is Ada.", "what is my name?", "Your name is Ada."),
        ("Hi, call me Ada", "who am I?", "Your name is Ada."),
        (
            "remember that my favourite colour is dark blue",
            "what's my favourite  colour?",
            "Your favourite colour is dark blue.",
        ),
    ],
)
def test_a_fact_told_earlier_is_known_later(told: str, asked: str, answer: str) -> None:
    noted = only_move(told)
    assert isinstance(noted, Say)
    assert noted.text.startswith("Noted: ")
    said = f"{answer} You told me earlier in this conversation."
    assert only_move(asked, told) == Say(said)


def test_the_newest_of_two_facts_counts() -> None:
    move = only_move("what is my name?", "my name is Ada", "my name is Grace")
    assert move == Say(answers.recalled("name", "Grace"))


def test_a_fact_never_told_is_not_invented() -> None:
    assert only_move("what is my shoe size?") == Say(answers.recalled("shoe size", None))


def test_the_tools_it_was_given_can_be_asked_for() -> None:
    asked = Conversation(request="which tools do you have?", tools={"b": {}, "a": {}})
    assert plan(asked) == (Say("These are the tools I may use:\n\n- `a`\n- `b`"),)


def test_every_intent_has_its_own_name() -> None:
    names = [intent.name for intent in INTENTS if not intent.name.startswith("ask the machine")]
    assert len(names) == len(set(names))


@given(st.text(max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_text_leads_to_at_least_one_move(request_: str) -> None:
    assert plan(Conversation(request=request_))


@pytest.mark.parametrize(
    "request_",
    [
        "replace " + "a with b " * 220,
        "ls" + " ." * 990 + "x",
        "write " + "x to " * 390,
        "search " + "a in " * 380 + "!",
        "what files" + " there" * 300,
        "create a " + "new " * 490,
        "x" * 1_000_000,
    ],
)
def test_a_hostile_request_is_dealt_with_quickly(request_: str) -> None:
    started = time.process_time()
    plan(Conversation(request=request_))
    assert time.process_time() - started < 2
