"""The talk with an ACP agent, line by line and without a process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.backends.drivers.acp_presets import UNKNOWN
from hermes.backends.drivers.acp_talk import AcpPeer
from hermes.backends.jobs import CliSession, Image, Question, Setup
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

SESSION = "ses_1"
AGENT = {
    "protocolVersion": 1,
    "agentCapabilities": {"loadSession": True, "promptCapabilities": {"image": True}},
    "agentInfo": {"name": "agent", "version": "1.18.33"},
    "authMethods": [],
}
FULL = Setup(job_id="j", profile=Profile.FULL)
EDIT = Setup(job_id="j", profile=Profile.EDIT, can_ask=True)
ENDED = Exit(code=0)
HI = Question(text="Hi")


def answer(call_id: int, result: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": call_id, "result": result}).encode()


def refusal(call_id: int, code: int, message: str, data: Any = None) -> bytes:
    error = {"code": code, "message": message, "data": data}
    return json.dumps({"jsonrpc": "2.0", "id": call_id, "error": error}).encode()


def update(kind: str, /, **fields: Any) -> bytes:
    told = {"sessionId": SESSION, "update": {"sessionUpdate": kind, **fields}}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": told}).encode()


def chunk(text: str, kind: str = "agent_message_chunk", **fields: Any) -> bytes:
    return update(kind, content={"type": "text", "text": text}, **fields)


def sent(steps: Sequence[Event | Step]) -> list[dict[str, Any]]:
    return [json.loads(step.data) for step in steps if isinstance(step, Write)]


def heard(peer: AcpPeer, *told: bytes) -> list[Event | Step]:
    return [event for line in told for event in peer.read(line)]


def greeted(setup: Setup = FULL, **changes: Any) -> AcpPeer:
    peer = AcpPeer(setup, Path("/w"), replace(UNKNOWN, **changes))
    peer.greet()
    peer.read(answer(1, AGENT))
    return peer


def asked(setup: Setup = FULL, question: Question = HI, **changes: Any) -> AcpPeer:
    """A peer whose prompt is under way, as call 3."""
    peer = greeted(setup, **changes)
    peer.read(answer(2, {"sessionId": SESSION}))
    peer.ask(question)
    return peer


def prompted(setup: Setup, question: Question) -> list[dict[str, Any]]:
    peer = greeted(setup)
    peer.read(answer(2, {"sessionId": SESSION}))
    (prompt,) = sent(peer.ask(question))
    blocks: list[dict[str, Any]] = prompt["params"]["prompt"]
    return blocks


# Opening -------------------------------------------------------------------------------------


def test_the_agent_is_offered_no_files_and_no_terminals() -> None:
    (greeting,) = sent(AcpPeer(FULL, Path("/w"), UNKNOWN).greet())
    capabilities = greeting["params"]["clientCapabilities"]
    assert capabilities["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert capabilities["terminal"] is False


def test_a_session_is_opened_and_waits_for_its_question() -> None:
    peer = AcpPeer(FULL, Path("/w"), UNKNOWN)
    peer.greet()
    (opening,) = sent(peer.read(answer(1, AGENT)))
    assert (opening["method"], opening["params"]) == (
        "session/new",
        {"cwd": "/w", "mcpServers": []},
    )
    assert peer.read(answer(2, {"sessionId": SESSION})) == [Started(SESSION, None, "1.18.33")]
    (prompt,) = sent(peer.ask(HI))
    assert prompt["params"]["sessionId"] == SESSION


def test_a_question_that_comes_early_waits_for_the_session() -> None:
    peer = greeted()
    assert peer.ask(HI) == []
    (prompt,) = sent(peer.read(answer(2, {"sessionId": SESSION})))
    assert prompt["method"] == "session/prompt"


def test_another_version_of_the_protocol_is_refused_with_words() -> None:
    peer = AcpPeer(FULL, Path("/w"), UNKNOWN)
    peer.greet()
    assert peer.read(answer(1, {**AGENT, "protocolVersion": 2})) == [Concluded()]
    assert "version 2" in (peer.finish(ENDED).error or "")


AGAIN = Setup(job_id="j", session=CliSession(id=SESSION, is_resumed=True), system_prompt="Be kind.")


def test_the_history_of_a_session_is_not_said_again() -> None:
    peer = AcpPeer(AGAIN, Path("/w"), UNKNOWN)
    peer.greet()
    (loading,) = sent(peer.read(answer(1, AGENT)))
    assert (loading["method"], loading["params"]["sessionId"]) == ("session/load", SESSION)
    assert heard(peer, chunk("old", "user_message_chunk"), chunk("older")) == []
    assert peer.read(answer(2, {})) == [Started(SESSION, None, "1.18.33")]
    (prompt,) = sent(peer.ask(HI))
    assert prompt["params"]["prompt"] == [{"type": "text", "text": "Hi"}]


@pytest.mark.parametrize(
    "told", [answer(2, {}), refusal(2, -32603, "Internal error", {"details": "not found"})]
)
def test_a_session_that_is_gone_is_not_begun_anew(told: bytes) -> None:
    peer = greeted(AGAIN)
    assert peer.read(told) == [Concluded()]
    ending = peer.finish(ENDED)
    assert (ending.kind, ending.code) == (EndKind.FAILED, "cli_session_unknown")


def test_an_agent_without_memory_is_not_asked_for_it() -> None:
    peer = AcpPeer(AGAIN, Path("/w"), UNKNOWN)
    peer.greet()
    peer.read(answer(1, {**AGENT, "agentCapabilities": {}}))
    assert peer.finish(ENDED).code == "cli_session_unknown"


def test_an_agent_that_is_not_logged_in_says_what_to_do() -> None:
    peer = greeted()
    assert peer.read(refusal(2, -32000, "Authentication required")) == [Concluded()]
    ending = peer.finish(ENDED)
    assert ending.code == "authentication"
    assert ending.error == "The agent is not logged in: log in with the agent itself."


WANTED = Setup(job_id="j", profile=Profile.FULL, model="m")


@pytest.mark.parametrize(
    ("opened", "call"),
    [
        (
            {"models": {"currentModelId": "a", "availableModels": [{"modelId": "p/m"}]}},
            ("session/set_model", {"sessionId": SESSION, "modelId": "p/m"}),
        ),
        (
            {"configOptions": [{"id": "model", "options": [{"value": "x", "name": "m"}]}]},
            (
                "session/set_config_option",
                {"sessionId": SESSION, "configId": "model", "value": "x"},
            ),
        ),
    ],
)
def test_the_model_is_chosen_as_the_agent_wants_it(opened: Any, call: tuple[str, Any]) -> None:
    peer = greeted(WANTED)
    (choice,) = sent(peer.read(answer(2, {"sessionId": SESSION, **opened})))
    assert (choice["method"], choice["params"]) == call
    assert isinstance(peer.read(answer(3, {}))[0], Started)


def test_a_model_that_is_set_already_is_not_chosen_again() -> None:
    models = {"currentModelId": "m", "availableModels": [{"modelId": "m"}]}
    opened = {"sessionId": SESSION, "models": models}
    assert isinstance(greeted(WANTED).read(answer(2, opened))[0], Started)


def test_a_model_that_the_agent_does_not_have_is_named_with_those_it_has() -> None:
    peer = greeted(WANTED)
    models = {"currentModelId": "a", "availableModels": [{"modelId": "a"}, {"modelId": "b"}]}
    peer.read(answer(2, {"sessionId": SESSION, "models": models}))
    assert peer.finish(ENDED).error == "The agent has no model m; it has a, b."


# Asking --------------------------------------------------------------------------------------


def test_the_system_prompt_comes_first_in_a_new_session() -> None:
    setup = replace(FULL, system_prompt="Be kind.")
    assert prompted(setup, HI) == [{"type": "text", "text": "Be kind.\n\nHi"}]
    late = Question(text="Hi", system_prompt="Be brief.")
    assert prompted(setup, late) == [{"type": "text", "text": "Be brief.\n\nHi"}]


@pytest.mark.parametrize("text", ["/init", "  /init"])
def test_a_question_is_never_a_command(text: str) -> None:
    (block,) = prompted(FULL, Question(text=text))
    assert block["text"] == f"\u200b{text}"


def test_images_go_with_the_question() -> None:
    image = Image(media_type="image/png", data=b"png")
    blocks = prompted(FULL, Question(text="Look", images=(image,)))
    assert blocks[1] == {"type": "image", "mimeType": "image/png", "data": "cG5n"}


def test_an_agent_that_takes_no_images_is_not_sent_any() -> None:
    peer = AcpPeer(FULL, Path("/w"), UNKNOWN)
    peer.greet()
    heard(peer, answer(1, {"protocolVersion": 1}), answer(2, {"sessionId": SESSION}))
    image = Image(media_type="image/png", data=b"png")
    assert peer.ask(Question(text="Look", images=(image,))) == [CloseInput()]
    assert peer.finish(ENDED).code == "bad_request"


# Answers -------------------------------------------------------------------------------------


def test_pieces_are_said_and_make_a_message() -> None:
    peer = asked()
    events = heard(
        peer,
        chunk("Hm", "agent_thought_chunk"),
        chunk("Hel", messageId="a"),
        chunk("lo", messageId="a"),
        chunk("Bye", messageId="b"),
        answer(3, {"stopReason": "end_turn"}),
    )
    assert events == [
        Thought("Hm"),
        Said("Hel"),
        Said("lo"),
        MessageEnded("Hello"),
        Said("Bye"),
        MessageEnded("Bye"),
        Concluded(),
    ]
    ending = peer.finish(ENDED)
    assert (ending.kind, ending.text) == (EndKind.ANSWERED, "Bye")


@pytest.mark.parametrize(
    ("reason", "kind", "code"),
    [
        ("end_turn", EndKind.ANSWERED, None),
        ("max_tokens", EndKind.TRUNCATED, None),
        ("max_turn_requests", EndKind.TRUNCATED, "max_turns"),
        ("refusal", EndKind.REFUSED, None),
        ("cancelled", EndKind.STOPPED, None),
        ("of the next version", EndKind.ANSWERED, None),
    ],
)
def test_reasons_to_stop(reason: str, kind: EndKind, code: str | None) -> None:
    peer = asked()
    heard(peer, chunk("Hello"), answer(3, {"stopReason": reason}))
    ending = peer.finish(ENDED)
    assert (ending.kind, ending.code) == (kind, code)


def test_an_end_without_a_word_is_no_answer() -> None:
    peer = asked()
    heard(peer, answer(3, {"stopReason": "end_turn"}))
    assert peer.finish(ENDED).kind is EndKind.FAILED


def test_a_failed_prompt_is_told_in_the_agents_words() -> None:
    peer = asked()
    heard(peer, refusal(3, -32603, "Internal error", {"details": "401 bad key"}))
    ending = peer.finish(ENDED)
    assert (ending.error, ending.code) == ("Internal error: 401 bad key", "authentication")


def test_a_crash_and_a_stop_are_told_apart() -> None:
    peer = asked()
    heard(peer, chunk("Hel"))
    assert peer.finish(Exit(code=1)).code == "cli_crashed"
    stopped = peer.finish(Exit(code=-15, stopped=StopReason.ASKED))
    assert (stopped.kind, stopped.text) == (EndKind.STOPPED, "Hel")


def test_an_interrupt_cancels_the_prompt_and_its_open_questions() -> None:
    peer = asked(EDIT)
    heard(peer, permission("execute", command="rm x"))
    cancel, outcome = sent(peer.interrupt())
    assert (cancel["method"], "id" in cancel) == ("session/cancel", False)
    assert outcome["result"] == {"outcome": {"outcome": "cancelled"}}
    assert peer.answer("7", is_allowed=True) == []


def test_an_interrupt_before_the_session_takes_the_question_back() -> None:
    peer = greeted()
    peer.ask(HI)
    assert peer.interrupt() == []
    assert sent(peer.read(answer(2, {"sessionId": SESSION}))) == []


# Usage ---------------------------------------------------------------------------------------


def test_usage_in_the_result_is_that_of_the_last_call() -> None:
    used = {"inputTokens": 7683, "outputTokens": 2, "totalTokens": 7686, "thoughtTokens": 1}
    counted = Usage(input_tokens=7683, output_tokens=3, total_tokens=7686, reasoning_tokens=1)
    peer = asked()
    heard(peer, chunk("a"), answer(3, {"stopReason": "end_turn", "usage": used}))
    assert peer.finish(ENDED).usage == counted
    peer = asked()
    heard(peer, tool("completed"), chunk("a"))
    heard(peer, answer(3, {"stopReason": "end_turn", "usage": used}))
    assert peer.finish(ENDED).usage == replace(counted, is_estimated=True)


def test_usage_of_every_call_is_summed() -> None:
    used = {"inputTokens": 100, "outputTokens": 1, "totalTokens": 101, "cachedReadTokens": 40}
    peer = asked()
    heard(peer, chunk("", _meta={"usage": used}), tool("completed"))
    heard(peer, chunk("a"), chunk("", _meta={"usage": used}), answer(3, {"stopReason": "end_turn"}))
    expected = Usage(input_tokens=200, output_tokens=2, total_tokens=202, cached_tokens=80)
    assert peer.finish(ENDED).usage == expected


def test_usage_as_a_quota_is_that_of_the_turn() -> None:
    meta = {"quota": {"token_count": {"input_tokens": 400, "output_tokens": 40}, "model_usage": []}}
    peer = asked()
    heard(peer, tool("completed"), chunk("a"), answer(3, {"stopReason": "end_turn", "_meta": meta}))
    assert peer.finish(ENDED).usage == Usage(input_tokens=400, output_tokens=40, total_tokens=440)


# Tools and permissions -----------------------------------------------------------------------


def tool(status: str, kind: str = "tool_call", **fields: Any) -> bytes:
    given = {"kind": "execute", "title": "ls", "rawInput": {"command": "ls"}, **fields}
    return update(kind, toolCallId="c", status=status, **given)


def permission(kind: str, **given: Any) -> bytes:
    call = {"toolCallId": "c", "status": "pending", "title": "Do it", "kind": kind}
    options = [
        {"optionId": "always", "kind": "allow_always"},
        {"optionId": "once", "kind": "allow_once"},
        {"optionId": "no", "kind": "reject_once"},
    ]
    params = {"sessionId": SESSION, "toolCall": {**call, "rawInput": given}, "options": options}
    method = "session/request_permission"
    return json.dumps({"id": 7, "method": method, "params": params}).encode()


def chosen(steps: Sequence[Event | Step]) -> Any:
    (reply,) = sent(steps)
    return reply["result"]["outcome"].get("optionId")


def test_a_call_is_told_when_its_arguments_are_known() -> None:
    output = [{"type": "content", "content": {"type": "text", "text": "a.txt"}}]
    events = heard(
        asked(),
        tool("pending", rawInput={}),
        tool("in_progress", "tool_call_update"),
        tool("in_progress", "tool_call_update"),
        tool("completed", "tool_call_update", content=output, _meta={"toolName": "bash"}),
    )
    assert events == [
        ToolCalled("c", "execute", {"command": "ls"}),
        ToolAnswered("c", "execute", "a.txt"),
    ]


def test_the_agents_own_name_for_a_tool_is_used_where_it_is_told() -> None:
    events = heard(asked(), tool("in_progress", _meta={"toolName": "run_shell_command"}))
    assert events == [ToolCalled("c", "run_shell_command", {"command": "ls"})]


def test_a_message_ends_where_a_tool_begins() -> None:
    events = heard(asked(), chunk("Let me see."), tool("in_progress"))
    assert events[1] == MessageEnded("Let me see.")


def test_what_it_may_not_do_unasked_is_asked_about() -> None:
    called, question = asked(EDIT).read(permission("execute", command="rm x"))
    assert called == ToolCalled("c", "execute", {"command": "rm x"})
    assert question == PermissionAsked(
        id="7",
        call_id="c",
        tool="execute",
        arguments={"command": "rm x"},
        shown="rm x",
        reason="wants to run a command",
    )


@pytest.mark.parametrize(("is_allowed", "option"), [(True, "once"), (False, "no")])
def test_a_decision_is_for_once(*, is_allowed: bool, option: str) -> None:
    peer = asked(EDIT)
    heard(peer, permission("edit", path="a"))
    assert chosen(peer.answer("7", is_allowed=is_allowed)) == option
    assert peer.answer("7", is_allowed=is_allowed) == []


def test_what_is_asked_about_is_shown_in_full() -> None:
    (_, question) = asked(EDIT).read(permission("edit", path="/w/a", content="new"))
    assert isinstance(question, PermissionAsked)
    assert question.shown == 'Do it\n{"path": "/w/a", "content": "new"}'


def test_in_full_nobody_is_asked() -> None:
    assert chosen(asked(FULL).read(permission("execute", command="rm x"))) == "once"


@pytest.mark.parametrize(
    "setup",
    [
        Setup(job_id="j", profile=Profile.READ_ONLY, can_ask=True),
        Setup(job_id="j", profile=Profile.EDIT, can_ask=False),
    ],
)
def test_what_nobody_can_allow_is_denied_and_told(setup: Setup) -> None:
    peer = asked(setup)
    events = peer.read(permission("read", path="/etc/passwd"))
    assert chosen(events) == "no"
    assert any(isinstance(event, Told) and event.code == "cli_denied" for event in events)
    ended = heard(peer, chunk("I may not."), answer(3, {"stopReason": "end_turn"}))
    assert any(isinstance(event, ToolAnswered) and event.is_error for event in ended)


def test_edits_of_an_agent_that_keeps_to_its_workspace_are_free() -> None:
    setup = Setup(job_id="j", profile=Profile.EDIT)
    assert chosen(asked(setup, confines_edits=True).read(permission("edit"))) == "once"
    assert chosen(asked(setup, confines_edits=False).read(permission("edit"))) == "no"
    read_only = Setup(job_id="j", profile=Profile.READ_ONLY)
    assert chosen(asked(read_only, confines_edits=True).read(permission("edit"))) == "no"


def test_methods_that_we_do_not_have_are_refused() -> None:
    reading = b'{"id":9,"method":"fs/read_text_file","params":{"path":"/etc/passwd"}}'
    (reply,) = sent(asked().read(reading))
    assert reply["error"]["code"] == -32601


# Odd lines -----------------------------------------------------------------------------------


def test_what_is_not_known_is_told() -> None:
    events = heard(asked(), update("of_the_next_version"), b"npm warn", update("plan", entries=[]))
    assert [event.code for event in events if isinstance(event, Told)] == ["unknown_line"] * 2


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["update", "toolCall", "options", "content", "_meta", "kind", "status"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(st.sampled_from(["session/update", "session/request_permission"]), ODD)
def test_nothing_that_an_agent_tells_makes_it_raise(method: str, params: Any) -> None:
    peer = asked(EDIT)
    peer.read(json.dumps({"method": method, "params": params}).encode())
    peer.read(json.dumps({"id": 0, "method": method, "params": params}).encode())
    peer.read(json.dumps({"id": 3, "result": params}).encode())
    assert peer.finish(ENDED).kind in EndKind
