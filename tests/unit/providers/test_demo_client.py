"""The demo model as a client: its wire shape, its multi-step turns, what it says about results."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from hermes.core import messages
from hermes.core.errors import ProviderError
from hermes.core.messages import UNKNOWN_OUTCOME, Message
from hermes.providers.demo import answers
from hermes.providers.demo.chunks import chunks, completion, pieces
from hermes.providers.demo.client import DemoClient
from hermes.providers.demo.moves import Say, Use
from hermes.providers.demo.reports import report
from hermes.providers.demo.workspace import DEMO_FILES, furnish
from hermes.tools.base import ToolContext
from hermes.tools.registry import Registry
from hermes.tools.workspace import Workspace

TOOLS = Registry.builtin().schemas()


def ask(conversation: list[Message], tools: list[dict[str, Any]] = TOOLS) -> dict[str, Any]:
    body = DemoClient(pace=0).chat.completions.create(
        model="any", messages=conversation, tools=tools, stream=False
    )
    message: dict[str, Any] = body["choices"][0]["message"]
    return message


def collect(conversation: list[Message]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The streamed answer put together by hand, and its chunks."""
    create = DemoClient(pace=0).chat.completions.create
    stream = list(create(model="any", messages=conversation, tools=TOOLS, stream=True))
    text, call, finish = "", {"id": "", "name": "", "arguments": ""}, None
    for chunk in stream:
        for choice in chunk["choices"]:
            text += choice["delta"].get("content") or ""
            finish = choice["finish_reason"] or finish
            for delta in choice["delta"].get("tool_calls", ()):
                call["id"] += delta.get("id", "")
                call["name"] += delta["function"].get("name", "")
                call["arguments"] += delta["function"]["arguments"]
    return {"text": text, "call": call, "finish": finish, "usage": stream[-1]["usage"]}, stream


def converse(workspace: Path, request: messages.Content) -> tuple[list[str], str]:
    """A turn with the real tools: the tools used, and the final words."""
    registry = Registry.builtin()
    context = ToolContext(
        workspace=Workspace(workspace), stop=threading.Event(), report=lambda _: None
    )
    conversation = [messages.user(request)]
    used: list[str] = []
    for _ in range(5):
        message = ask(conversation)
        conversation.append(message)
        if not message.get("tool_calls"):
            return used, message["content"]
        call = message["tool_calls"][0]
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        used.append(name)
        result = registry.run(name, arguments, context)
        conversation.append(messages.tool(call["id"], name, result))
    raise AssertionError("the demo model did not come to an end")


@pytest.mark.parametrize("request_", ["tell me a story", "read notes.txt", ""])
def test_every_chunk_is_a_valid_chunk_of_the_sdk(request_: str) -> None:
    _, stream = collect([messages.user(request_)])
    for chunk in stream:
        ChatCompletionChunk.model_validate(chunk, strict=True)
    assert stream[0]["choices"][0]["delta"]["role"] == "assistant"
    assert stream[-1]["choices"] == []
    assert len({chunk["id"] for chunk in stream}) == 1


@pytest.mark.parametrize("request_", ["tell me a story", "read notes.txt"])
def test_the_whole_completion_is_valid_for_the_sdk(request_: str) -> None:
    body = DemoClient(pace=0).chat.completions.create(
        messages=[messages.user(request_)], tools=TOOLS
    )
    ChatCompletion.model_validate(body, strict=True)


def test_a_streamed_answer_adds_up_to_the_whole_one() -> None:
    conversation = [messages.user("tell me a story")]
    streamed, stream = collect(conversation)
    assert streamed["text"] == ask(conversation)["content"] == answers.STORY
    assert streamed["finish"] == "stop"
    assert len(stream) > 100


def test_a_streamed_tool_call_adds_up_to_the_whole_one() -> None:
    conversation = [messages.user("create a file a.txt with some words that take several chunks")]
    streamed, stream = collect(conversation)
    whole = ask(conversation)["tool_calls"][0]
    assert streamed["call"] == {"id": whole["id"], **whole["function"]}
    assert streamed["finish"] == "tool_calls"
    assert len(stream) > 6


@given(st.text())
def test_pieces_always_add_up_to_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text
    assert all(len(piece.lstrip()) <= 8 for piece in pieces(text))


@given(st.text(), st.text())
def test_any_arguments_survive_being_streamed(path: str, content: str) -> None:
    move = Use("write_file", {"path": path, "content": content})
    deltas = [c["choices"][0]["delta"] for c in chunks(move, []) if c["choices"]]
    calls = [delta["tool_calls"][0] for delta in deltas if "tool_calls" in delta]
    joined = "".join(call["function"]["arguments"] for call in calls)
    assert json.loads(joined) == {"path": path, "content": content}


def test_the_usage_is_the_same_streamed_or_whole_and_adds_up() -> None:
    conversation = [messages.user("tell me a story")]
    streamed, _ = collect(conversation)
    usage = completion(Say(answers.STORY), conversation)["usage"]
    assert streamed["usage"] == usage
    assert usage["completion_tokens"] == -(-len(answers.STORY) // 4)
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_two_calls_of_one_turn_have_different_ids() -> None:
    conversation = [messages.user("write hi to a.txt and then read it")]
    first = ask(conversation)
    conversation += [first, messages.tool(first["tool_calls"][0]["id"], "write_file", "Created.")]
    second = ask(conversation)
    assert first["tool_calls"][0]["id"] != second["tool_calls"][0]["id"]


def test_the_files_are_listed_by_the_real_tool(tmp_path: Path) -> None:
    furnish(tmp_path)
    used, text = converse(tmp_path, "what files are there?")
    assert used == ["list_files"]
    assert text.startswith("In the workspace I found:\n\n- build/\n- README.md (")
    assert "\n- notes.txt (" in text


def test_a_file_is_quoted_without_line_numbers(tmp_path: Path) -> None:
    furnish(tmp_path)
    used, text = converse(tmp_path, "read notes.txt")
    assert used == ["read_file"]
    assert f"```\n{DEMO_FILES['notes.txt']}```" in text


def test_a_missing_file_is_told_as_missing(tmp_path: Path) -> None:
    used, text = converse(tmp_path, "read nope.txt")
    assert used == ["read_file"]
    assert "nope.txt does not exist" in text
    assert "```" not in text


def test_a_file_is_created_and_then_read_in_one_turn(tmp_path: Path) -> None:
    used, text = converse(tmp_path, "create a file hello.txt with Hello there! and then read it")
    assert used == ["write_file", "read_file"]
    assert (tmp_path / "hello.txt").read_text() == "Hello there!\n"
    assert "to be written" in text
    assert "```\nHello there!\n```" in text


def test_a_change_is_shown_as_a_diff(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("milk\n")
    used, text = converse(tmp_path, "replace milk with tea in notes.txt")
    assert used == ["patch_file"]
    assert "```diff\n" in text
    assert "-milk\n+tea" in text


def test_a_command_is_really_run(tmp_path: Path) -> None:
    used, text = converse(tmp_path, "run `echo 'it works'`")
    assert used == ["terminal"]
    assert text == "I ran `echo 'it works'`.\n\n```\nit works\n```"


def test_a_failing_command_is_told_as_failing(tmp_path: Path) -> None:
    _, text = converse(tmp_path, "run cat nope.txt")
    assert "It did not end well: exit code 1." in text


def test_matching_lines_are_quoted(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("one\nTODO two\n")
    used, text = converse(tmp_path, "search for TODO")
    assert used == ["search_files"]
    assert "```\nnotes.txt:2: TODO two\n```" in text


def test_a_search_without_matches_says_so(tmp_path: Path) -> None:
    _, text = converse(tmp_path, "search for TODO")
    assert text == "I used `search_files`. It answered: No matches."


@pytest.mark.parametrize(
    "use",
    [
        Use("read_file", {"path": "a.txt"}),
        Use("list_files", {"path": "."}),
        Use("terminal", {"command": "date"}),
        Use("search_files", {"pattern": "x", "path": "."}),
        Use("patch_file", {"path": "a.txt", "old_text": "x", "new_text": "y"}),
        Use("write_file", {"path": "a.txt", "content": "x"}),
    ],
)
def test_an_unknown_outcome_is_told_as_such(use: Use) -> None:
    assert report([use], [UNKNOWN_OUTCOME]).endswith(f"answered: {UNKNOWN_OUTCOME}")


def test_backticks_in_a_file_do_not_end_the_code_block() -> None:
    told = report(
        [Use("read_file", {"path": "a.md"})], ["     1\t```\n     2\tx\n     3\t```\n[End.]"]
    )
    assert "````\n```\nx\n```\n````" in told


def test_a_tool_it_was_not_given_is_named_with_what_to_do() -> None:
    message = ask([messages.user("what time is it?")], tools=[])
    assert message["content"] == answers.missing_tool("terminal", [])
    assert "toolset `terminal`" in message["content"]


def test_results_are_still_told_when_the_next_tool_is_missing() -> None:
    only_write = [tool for tool in TOOLS if tool["function"]["name"] == "write_file"]
    conversation = [messages.user("write hi to a.txt and then read it")]
    first = ask(conversation, only_write)
    conversation += [first, messages.tool(first["tool_calls"][0]["id"], "write_file", "Created.")]
    text = ask(conversation, only_write)["content"]
    assert "The tool answered: Created." in text
    assert text.endswith(answers.missing_tool("read_file", ["write_file"]))


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


def test_an_image_is_refused_with_what_to_do_about_it() -> None:
    parts: messages.Content = [{"type": "text", "text": "count to 3"}, IMAGE]
    with pytest.raises(ProviderError, match="connect a model with vision") as refused:
        ask([messages.user(parts)])
    assert refused.value.code == "images_unsupported"


def test_an_image_of_an_earlier_turn_does_not_end_the_conversation() -> None:
    earlier = [messages.user([IMAGE]), messages.assistant("Nice.")]
    assert ask([*earlier, messages.user("count to 3")])["content"] == "1, 2, 3."


def test_earlier_turns_with_tools_do_not_confuse_the_present_one() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "list_files", "arguments": "{}"}}
    conversation = [
        {"role": "system", "content": "You are Hermes."},
        messages.user("my name is Ada"),
        messages.assistant("Noted."),
        messages.user("ls"),
        messages.assistant(None, [call]),
        messages.tool("c", "list_files", "a.txt (1 bytes)"),
        messages.assistant("In the workspace I found a.txt."),
        messages.user("what is my name?"),
    ]
    assert ask(conversation)["content"] == answers.recalled("name", "Ada")


def test_no_messages_at_all_are_met_with_a_greeting() -> None:
    create = DemoClient(pace=0).chat.completions.create
    message = create()["choices"][0]["message"]
    assert message["content"] == answers.GREETING


def test_a_new_workspace_is_furnished_privately(tmp_path: Path) -> None:
    workspace = tmp_path / "new"
    furnish(workspace)
    files = [path for path in workspace.rglob("*") if path.is_file()]
    folders = [workspace, workspace / "build"]
    found = {str(file.relative_to(workspace)): file.read_text() for file in files}
    assert found == dict(DEMO_FILES)
    assert {folder.stat().st_mode & 0o777 for folder in folders} == {0o700}
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_a_workspace_with_anything_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    furnish(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


DELETE = Use("terminal", {"command": "rm -r build"})


def test_an_approval_is_told_beside_what_the_command_said() -> None:
    text = report([DELETE], ["(no output)\n[exit code 0]\n[approved by the user: once]"])
    assert text.startswith("I ran `rm -r build`.\n\n")
    assert "did not end well" not in text
    assert text.endswith("(It was approved by the user: once.)")


@pytest.mark.parametrize("result", ["Denied by the user: this was not run.", "Not approved: no."])
def test_a_denial_is_taken_politely(result: str) -> None:
    text = report([DELETE], [result])
    assert text.startswith("All right: I have left it alone, and `rm -r build` was not run.")
    assert result in text
