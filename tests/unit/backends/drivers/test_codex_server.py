"""The talk with `codex app-server`, line by line and without a process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.backends.drivers.codex_server import AppServerPeer
from hermes.backends.jobs import CliSession, Image, Places, Question, Setup
from hermes.backends.saying import (
    CloseInput,
    Concluded,
    EndKind,
    Event,
    Exit,
    MessageEnded,
    PermissionAsked,
    Said,
    Started,
    Step,
    StopReason,
    Thought,
    Told,
    ToolAnswered,
    ToolCalled,
    Write,
)
from hermes.core.cli_agents import Profile
from hermes.core.usage import Usage
from tests.unit.backends.drivers import codex_lines as lines

PLACES = Places(home=Path("/h"), workspace=Path("/w"), scratch=Path("/s"))
ENDED = Exit(code=0)
NEW = Setup(job_id="j")
KEPT = Setup(job_id="j", session=CliSession())


def sent(steps: Sequence[Event | Step]) -> list[dict[str, Any]]:
    return [json.loads(step.data) for step in steps if isinstance(step, Write)]


def asked(setup: Setup = NEW, question: Question | None = None) -> AppServerPeer:
    """A peer whose turn is under way."""
    peer = AppServerPeer(setup, PLACES)
    peer.greet()
    peer.read(lines.answer(1, lines.GREETED))
    peer.read(lines.answer(2, lines.OPENED))
    peer.ask(question or Question(text="Hi"))
    peer.read(lines.answer(3, {"turn": {"id": lines.TURN}}))
    return peer


def heard(peer: AppServerPeer, *told: bytes) -> list[Event | Step]:
    return [event for line in told for event in peer.read(line)]


def said(events: Sequence[Event | Step]) -> str:
    return "".join(event.text for event in events if isinstance(event, Said))


def test_a_thread_is_opened_before_anybody_asks() -> None:
    peer = AppServerPeer(Setup(job_id="j", model="gpt-5.5"), PLACES)
    assert [call["method"] for call in sent(peer.greet())] == ["initialize"]
    initialized, opening = sent(peer.read(lines.answer(1, lines.GREETED)))
    assert initialized["method"] == "initialized"
    assert opening["method"] == "thread/start"
    assert opening["params"] == {"cwd": "/w", "model": "gpt-5.5", "ephemeral": True}
    started = peer.read(lines.answer(2, lines.OPENED))
    assert started == [Started(lines.THREAD, "gpt-5.5", "0.166.0")]


def test_a_question_that_comes_early_waits_for_the_thread() -> None:
    peer = AppServerPeer(NEW, PLACES)
    peer.greet()
    assert peer.ask(Question(text="Hi")) == []
    assert [call["method"] for call in sent(peer.read(lines.answer(1, lines.GREETED)))] == [
        "initialized",
        "thread/start",
    ]
    (turn,) = sent(peer.read(lines.answer(2, lines.OPENED)))
    assert turn["method"] == "turn/start"
    assert turn["params"]["input"] == [{"type": "text", "text": "Hi"}]


def test_a_session_that_is_kept_is_opened_for_good_and_resumed_by_its_id() -> None:
    fresh, again = AppServerPeer(KEPT, PLACES), CliSession(id=lines.THREAD, is_resumed=True)
    resumed = AppServerPeer(Setup(job_id="j", session=again), PLACES)
    calls = []
    for peer in (fresh, resumed):
        peer.greet()
        calls.append(sent(peer.read(lines.answer(1, lines.GREETED)))[1])
    assert calls[0]["params"]["ephemeral"] is False
    assert calls[1]["method"] == "thread/resume"
    assert calls[1]["params"]["threadId"] == lines.THREAD


def test_images_and_the_schema_go_with_the_question() -> None:
    setup = Setup(job_id="j", answer_schema={"type": "object"})
    peer = AppServerPeer(setup, PLACES)
    peer.greet()
    heard(peer, lines.answer(1, lines.GREETED), lines.answer(2, lines.OPENED))
    image = Image(media_type="image/png", data=b"png")
    (turn,) = sent(peer.ask(Question(text="Look", images=(image,))))
    assert turn["params"]["input"][1] == {"type": "image", "url": "data:image/png;base64,cG5n"}
    assert turn["params"]["outputSchema"] == {"type": "object"}


def test_a_warm_process_is_told_its_system_prompt_with_the_question() -> None:
    peer = AppServerPeer(NEW, PLACES)
    peer.greet()
    heard(peer, lines.answer(1, lines.GREETED), lines.answer(2, lines.OPENED))
    (opening,) = sent(peer.ask(Question(text="Hi", system_prompt="Be kind.")))
    assert (opening["method"], opening["params"]["developerInstructions"]) == (
        "thread/start",
        "Be kind.",
    )
    other = {**lines.OPENED, "thread": {"id": "another"}}
    (turn,) = sent(peer.read(lines.answer(3, other)))
    assert (turn["method"], turn["params"]["threadId"]) == ("turn/start", "another")


def test_text_is_said_piece_by_piece_and_once() -> None:
    peer = asked()
    events = heard(peer, lines.delta("Hel"), lines.delta("lo"), lines.message("Hello"), lines.end())
    assert events == [Said("Hel"), Said("lo"), MessageEnded("Hello"), Concluded()]
    ending = peer.finish(ENDED)
    assert (ending.kind, ending.text, ending.unsaid) == (EndKind.ANSWERED, "Hello", "")


def test_a_message_without_pieces_is_said_in_whole() -> None:
    assert said(heard(asked(), lines.message("Hello"))) == "Hello"


def test_after_a_broken_stream_the_same_words_are_not_said_again() -> None:
    events = heard(
        asked(),
        lines.delta("Hel"),
        lines.message("Hel"),
        lines.retry(),
        lines.delta("Hel", item="msg_2"),
        lines.delta("lo", item="msg_2"),
        lines.message("Hello", item="msg_2"),
    )
    assert said(events) == "Hello"
    assert Told("cli_retry", "Reconnecting... 1/1: stream disconnected") in events


def test_what_was_said_before_a_tool_is_not_mistaken_for_what_is_tried_again() -> None:
    events = heard(
        asked(),
        lines.message("Done.", item="msg_1"),
        lines.usage(10, 1),
        lines.retry(),
        lines.message("Done.", item="msg_2"),
    )
    assert said(events) == "Done.Done."


def test_thoughts_are_no_text() -> None:
    path = "item/reasoning/summary"
    events = heard(
        asked(),
        lines.notice(f"{path}PartAdded", itemId="r", summaryIndex=0),
        lines.notice(f"{path}TextDelta", itemId="r", delta="Hm", summaryIndex=0),
        lines.notice(f"{path}PartAdded", itemId="r", summaryIndex=1),
        lines.notice(f"{path}TextDelta", itemId="r", delta="So", summaryIndex=1),
    )
    assert events == [Thought("Hm"), Thought("\n\n"), Thought("So")]


def test_a_command_is_a_tool_of_its_own() -> None:
    done = {"status": "failed", "aggregatedOutput": "no such file\n", "exitCode": 2}
    events = heard(asked(), lines.command("started"), lines.command("completed", **done))
    arguments = {"command": "bash -lc 'ls'"}
    assert events == [
        ToolCalled("call_1", "command_execution", arguments),
        ToolAnswered("call_1", "command_execution", "no such file\n", is_error=True),
    ]


def test_a_call_whose_beginning_was_not_told_is_told_with_its_end() -> None:
    item = {"type": "webSearch", "id": "s", "query": "weather", "action": None}
    events = heard(asked(), lines.notice("item/completed", item=item))
    assert [type(event) for event in events] == [ToolCalled, ToolAnswered]
    assert events[0] == ToolCalled("s", "web_search", {"query": "weather"})


def test_what_other_threads_say_is_not_ours() -> None:
    peer = asked()
    other = "01a1e3e6-0000-7703-bef3-f6a9792b6408"
    assert heard(peer, lines.delta("psst", thread=other)) == []
    assert (
        heard(peer, lines.notice("turn/completed", thread=other, turn={"status": "failed"})) == []
    )


# Usage ---------------------------------------------------------------------------------------


def test_usage_is_what_the_total_grew_by_however_often_it_is_told() -> None:
    peer = asked()
    heard(peer, lines.usage(100, 5, last=100), lines.usage(220, 9, last=120))
    # After an interrupt the same total is told again, with the last call in it again.
    heard(peer, lines.usage(220, 9, last=120), lines.end())
    assert peer.finish(ENDED).usage == Usage(input_tokens=220, output_tokens=9, total_tokens=229)


def test_a_resumed_thread_says_itself_where_it_was() -> None:
    again = CliSession(id=lines.THREAD, is_resumed=True)
    peer = AppServerPeer(Setup(job_id="j", session=again), PLACES)
    peer.greet()
    heard(peer, lines.answer(1, lines.GREETED), lines.answer(2, lines.OPENED))
    heard(peer, lines.usage(1000, 50, turn="an earlier one", last=500))
    peer.ask(Question(text="Hi"))
    heard(peer, lines.answer(3, {"turn": {"id": lines.TURN}}), lines.usage(1300, 60), lines.end())
    ending = peer.finish(ENDED)
    assert ending.usage == Usage(input_tokens=300, output_tokens=10, total_tokens=310)
    assert ending.session_usage.total_tokens == 1360
    assert ending.session_id == lines.THREAD


def test_a_thread_that_keeps_quiet_about_it_is_believed_to_be_where_it_was_left() -> None:
    before = Usage(input_tokens=1000, output_tokens=50, total_tokens=1050)
    again = CliSession(id=lines.THREAD, is_resumed=True, used_before=before)
    peer = asked(Setup(job_id="j", session=again))
    heard(peer, lines.usage(1300, 60), lines.end())
    assert peer.finish(ENDED).usage.total_tokens == 310


# Approvals -----------------------------------------------------------------------------------

EDIT = Setup(job_id="j", profile=Profile.EDIT, can_ask=True)


def request(kind: str = "commandExecution", **params: Any) -> bytes:
    told = {"threadId": lines.THREAD, "turnId": lines.TURN, "itemId": "call_1", **params}
    return json.dumps({"id": 0, "method": f"item/{kind}/requestApproval", "params": told}).encode()


def test_a_command_outside_the_sandbox_is_asked_about() -> None:
    peer = asked(EDIT)
    heard(peer, lines.command("started"))
    (question,) = peer.read(request(command="bash -lc 'ls'", cwd="/w", reason="I must"))
    assert question == PermissionAsked(
        id="0",
        call_id="call_1",
        tool="command_execution",
        arguments={"command": "bash -lc 'ls'"},
        shown="bash -lc 'ls'",
        reason="wants to run a command outside its sandbox: I must",
    )


def test_another_folder_than_the_workspace_is_told() -> None:
    peer = asked(EDIT)
    heard(peer, lines.command("started"))
    (question,) = peer.read(request(command="ls", cwd="/w/deeper"))
    assert isinstance(question, PermissionAsked)
    assert question.arguments == {"command": "ls", "cwd": "/w/deeper"}


@pytest.mark.parametrize(("is_allowed", "decision"), [(True, "accept"), (False, "decline")])
def test_the_decision_answers_the_question_once(*, is_allowed: bool, decision: str) -> None:
    peer = asked(EDIT)
    heard(peer, request(command="ls"))
    (answer,) = sent(peer.answer("0", is_allowed=is_allowed))
    assert (answer["id"], answer["result"]) == (0, {"decision": decision})
    assert peer.answer("0", is_allowed=is_allowed) == []


def test_a_change_of_files_is_shown_with_every_path() -> None:
    changes = [
        {"path": "/w/a", "kind": {"type": "delete"}, "diff": "old"},
        {"path": "/elsewhere/b", "kind": {"type": "add"}},
    ]
    peer = asked(EDIT)
    item = {"type": "fileChange", "id": "call_1", "changes": changes, "status": "inProgress"}
    heard(peer, lines.notice("item/started", item=item))
    (question,) = peer.read(request("fileChange", reason=None))
    assert isinstance(question, PermissionAsked)
    assert (question.tool, question.shown) == ("file_change", "delete a\nold\nadd /elsewhere/b")


@pytest.mark.parametrize(
    "setup",
    [NEW, Setup(job_id="j", profile=Profile.READ_ONLY, can_ask=True)],
    ids=["nobody to ask", "nobody may allow it"],
)
def test_what_nobody_can_allow_is_denied_at_once(setup: Setup) -> None:
    answer, told = asked(setup).read(request(command="ls"))
    assert sent([answer])[0]["result"] == {"decision": "decline"}
    assert isinstance(told, Told)
    assert told.code == "cli_denied"


def test_other_questions_get_an_answer_too_so_that_codex_goes_on() -> None:
    peer = asked(EDIT)
    elicitation = b'{"id":"e","method":"mcpServer/elicitation/request","params":{}}'
    unknown = b'{"id":"u","method":"attestation/generate","params":{}}'
    assert sent(peer.read(elicitation))[0]["result"]["action"] == "decline"
    assert "error" in sent(peer.read(unknown))[0]


# Endings -------------------------------------------------------------------------------------


def test_an_interrupt_names_the_turn_and_ends_in_a_stop() -> None:
    peer = asked(KEPT)
    heard(peer, lines.delta("Hel"))
    (call,) = sent(peer.interrupt())
    assert call["params"] == {"threadId": lines.THREAD, "turnId": lines.TURN}
    heard(peer, lines.answer(4, {}), lines.end("interrupted"))
    ending = peer.finish(Exit(code=0, stopped=StopReason.ASKED))
    assert (ending.kind, ending.session_id) == (EndKind.STOPPED, lines.THREAD)


def test_an_interrupt_before_the_turn_is_kept_until_it_begins() -> None:
    peer = AppServerPeer(NEW, PLACES)
    peer.greet()
    heard(peer, lines.answer(1, lines.GREETED), lines.answer(2, lines.OPENED))
    peer.ask(Question(text="Hi"))
    assert peer.interrupt() == []
    (call,) = sent(peer.read(lines.answer(3, {"turn": {"id": lines.TURN}})))
    assert call["method"] == "turn/interrupt"


def test_an_interrupt_before_the_thread_takes_the_question_back() -> None:
    peer = AppServerPeer(NEW, PLACES)
    peer.greet()
    peer.ask(Question(text="Hi"))
    peer.interrupt()
    heard(peer, lines.answer(1, lines.GREETED))
    assert sent(peer.read(lines.answer(2, lines.OPENED))) == []


@pytest.mark.parametrize(
    ("info", "message", "code"),
    [
        ("contextWindowExceeded", "too much", "context_overflow"),
        ("unauthorized", "who?", "authentication"),
        ({"httpConnectionFailed": {"httpStatusCode": 429}}, "no", "rate_limited"),
        ({"responseStreamDisconnected": {"httpStatusCode": None}}, "gone", "network"),
        ("other", '{"error":{"message":"bad","code":null}}', "bad_request"),
        (
            "other",
            '{"error":{"message":"big","code":"context_length_exceeded"}}',
            "context_overflow",
        ),
        ("newInTheNextVersion", "something else", None),
        (None, "unexpected status 401 Unauthorized", "authentication"),
    ],
)
def test_a_failed_turn_has_a_code(info: Any, message: str, code: str | None) -> None:
    peer = asked()
    heard(peer, lines.end("failed", {"message": message, "codexErrorInfo": info}))
    ending = peer.finish(ENDED)
    assert (ending.kind, ending.code) == (EndKind.FAILED, code)
    assert ending.error
    assert "{" not in ending.error


@pytest.mark.parametrize(
    ("reason", "kind"),
    [("max_output_tokens", EndKind.TRUNCATED), ("content_filter", EndKind.REFUSED)],
)
def test_an_answer_that_the_provider_cut_is_no_answer(reason: str, kind: EndKind) -> None:
    peer = asked()
    error = {
        "message": f"Incomplete response returned, reason: {reason}",
        "codexErrorInfo": "other",
    }
    heard(peer, lines.message("cut"), lines.end("failed", error))
    ending = peer.finish(ENDED)
    assert (ending.kind, ending.text) == (kind, "cut")


def test_a_session_that_codex_does_not_have_is_named() -> None:
    again = CliSession(id=lines.THREAD, is_resumed=True)
    peer = AppServerPeer(Setup(job_id="j", session=again), PLACES)
    peer.greet()
    peer.ask(Question(text="Hi"))
    heard(peer, lines.answer(1, lines.GREETED))
    assert peer.read(lines.refusal(2, "no rollout found for thread id x")) == [Concluded()]
    ending = peer.finish(ENDED)
    assert (ending.kind, ending.code) == (EndKind.FAILED, "cli_session_unknown")
    assert ending.session_id is None


@pytest.mark.parametrize("active", [None, {"id": ":workspace"}])
def test_a_codex_that_takes_another_sandbox_is_not_asked(active: Any) -> None:
    peer = AppServerPeer(NEW, PLACES)
    peer.greet()
    peer.ask(Question(text="Hi"))
    heard(peer, lines.answer(1, lines.GREETED))
    opened = {**lines.OPENED, "activePermissionProfile": active}
    assert peer.read(lines.answer(2, opened)) == [Concluded()]
    assert "update it" in (peer.finish(ENDED).error or "")


def test_without_a_sandbox_none_is_missed() -> None:
    peer = AppServerPeer(Setup(job_id="j", profile=Profile.FULL), PLACES)
    peer.greet()
    heard(peer, lines.answer(1, lines.GREETED))
    opened = {**lines.OPENED, "activePermissionProfile": None}
    assert isinstance(peer.read(lines.answer(2, opened))[0], Started)


def test_a_warm_process_that_failed_is_not_asked_but_sent_home() -> None:
    peer = AppServerPeer(NEW, PLACES)
    peer.greet()
    heard(peer, lines.refusal(1, "not today"))
    assert peer.ask(Question(text="Hi")) == [CloseInput()]
    assert peer.finish(ENDED).error == "not today"


def test_a_process_that_dies_in_the_middle_has_crashed() -> None:
    peer = asked()
    heard(peer, lines.delta("Hel"))
    ending = peer.finish(Exit(code=101, stderr="panicked"))
    assert (ending.kind, ending.code) == (EndKind.FAILED, "cli_crashed")


def test_a_process_that_fails_after_its_answer_has_not_answered() -> None:
    peer = asked()
    heard(peer, lines.message("Hello"), lines.end())
    assert peer.finish(Exit(code=1, stderr="panicked")).kind is EndKind.FAILED
    assert peer.finish(Exit(code=-9, stopped=StopReason.IDLE)).kind is EndKind.ANSWERED


def test_it_is_dismissed_by_the_end_of_its_input() -> None:
    assert asked().dismiss() == [CloseInput()]


def test_warnings_are_told_and_progress_is_not() -> None:
    events = heard(
        asked(),
        lines.notice("warning", message="old model"),
        lines.notice("thread/status/changed", status={"type": "idle"}),
        lines.notice("account/rateLimits/updated", thread=""),
        lines.notice("brand/new"),
        b"not json",
    )
    assert events == [
        Told("cli_warning", "old model"),
        Told("unknown_line", "brand/new"),
        Told("unknown_line", "not json"),
    ]


METHODS = st.sampled_from(
    ["item/started", "item/completed", "turn/completed", "error", "thread/tokenUsage/updated"]
)
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["item", "turn", "error", "type", "id", "tokenUsage", "total", "status"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(METHODS, ODD)
def test_nothing_that_codex_tells_makes_it_raise(method: str, params: Any) -> None:
    peer = asked()
    peer.read(json.dumps({"method": method, "params": params}).encode())
    peer.read(json.dumps({"id": 0, "method": method, "params": params}).encode())
    assert peer.finish(ENDED).kind in EndKind
