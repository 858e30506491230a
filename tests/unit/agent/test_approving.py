"""Nothing that must be asked about is run before somebody says so, and then exactly once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes.agent.tooling import OVER_LIMIT
from hermes.core.approvals import ApprovalRequest, Decision, Grant
from hermes.core.events import ApprovalRequested, Laws, SegmentEnd, ToolFinished, ToolStarted
from hermes.core.messages import UNKNOWN_OUTCOME, Message, assistant, tool, user
from hermes.core.turn import ClientTools, Outcome, Resumption, TurnParameters, TurnResult
from hermes.providers.reply import ToolCall
from hermes.settings.model import ApprovalRule, ApprovalSettings
from hermes.tools.builtin.terminal import terminal
from hermes.tools.builtin.write_file import write_file
from tests.unit.agent.stage import Stage, calls, echo, reply

Play = Callable[..., Stage]

ASK = ApprovalSettings()
CAN_ASK = TurnParameters(can_ask=True)
TOOLS = (terminal, write_file, echo)


def runs(command: str, id: str = "c1", **more: Any) -> ToolCall:
    return calls("terminal", json.dumps({"command": command, **more}), id)


def answers(result: TurnResult) -> list[str]:
    return [message["content"] for message in result.messages if message["role"] == "tool"]


@pytest.fixture
def build(tmp_path: Path) -> Path:
    (tmp_path / "build").mkdir()
    return tmp_path / "build"


# --- asking ---------------------------------------------------------------------------------------


def test_a_destructive_command_pauses_the_turn_and_is_not_run(stage: Play, build: Path) -> None:
    turn = stage(
        reply("I'll clean up.", runs("rm -r build")),
        tools=TOOLS,
        approvals=ASK,
        parameters=CAN_ASK,
    )
    result = turn.play("Clean up.")
    assert (result.outcome, result.text, result.is_complete) == (
        Outcome.ASKING,
        "I'll clean up.",
        True,
    )
    [request] = result.approvals
    assert request == ApprovalRequest(
        id=request.id,
        code=request.code,
        call_id="c1",
        tool="terminal",
        arguments={"command": "rm -r build"},
        shown="rm -r build",
        reason="deletes files recursively",
        expires_at=request.expires_at,
    )
    assert turn.events == [SegmentEnd(), ApprovalRequested(request)]
    assert turn.recorded == [
        user("Clean up."),
        assistant("I'll clean up.", [runs("rm -r build").as_message_part()]),
    ]
    assert build.is_dir()


def test_none_of_the_calls_of_a_reply_is_run_while_one_is_asked_about(
    stage: Play, build: Path
) -> None:
    wanted = (calls("echo", id="c1"), runs("rm -r build", "c2"), runs("sudo ls", "c3"))
    turn = stage(reply(None, *wanted), tools=TOOLS, approvals=ASK, parameters=CAN_ASK)
    result = turn.play()
    assert [request.call_id for request in result.approvals] == ["c2", "c3"]
    assert len({request.code for request in result.approvals}) == 1
    assert len({request.id for request in result.approvals}) == 2
    assert not [value for kind, value in turn.log if kind == "ran"]


def test_harmless_calls_are_simply_run(stage: Play) -> None:
    turn = stage(
        reply(None, runs("echo hi")),
        reply("Done."),
        tools=TOOLS,
        approvals=ASK,
        parameters=CAN_ASK,
    )
    result = turn.play()
    assert result.outcome is Outcome.COMPLETED
    assert answers(result) == ["hi\n[exit code 0]"]


def test_where_nobody_can_be_asked_it_is_denied_and_the_model_is_told_who_can_allow_it(
    stage: Play, build: Path
) -> None:
    turn = stage(reply(None, runs("rm -r build")), reply("Sorry."), tools=TOOLS, approvals=ASK)
    result = turn.play()
    [answer] = answers(result)
    assert result.text == "Sorry."
    assert "deletes files recursively" in answer
    assert "approvals.rules" in answer
    assert build.is_dir()
    assert not any(isinstance(event, ToolStarted) for event in turn.events)


def test_what_the_operator_forbids_is_denied_without_asking(stage: Play) -> None:
    forbidding = ApprovalSettings(rules=(ApprovalRule(tool="echo", action="deny"),))
    turn = stage(
        reply(None, calls("echo")), reply("Sorry."), approvals=forbidding, parameters=CAN_ASK
    )
    [answer] = answers(turn.play())
    assert "forbidden by a rule" in answer


def test_without_a_policy_everything_is_run(stage: Play, build: Path) -> None:
    turn = stage(reply(None, runs("rm -r build")), reply("Done."), tools=TOOLS)
    assert turn.play().text == "Done."
    assert not build.exists()


def test_what_was_approved_for_longer_than_once_is_not_asked_again(
    stage: Play, build: Path
) -> None:
    granted = TurnParameters(can_ask=True, grants=(Grant("terminal", "rm -r build"),))
    turn = stage(
        reply(None, runs("rm -r build")),
        reply(None, runs("rm -r other", "c2")),
        tools=TOOLS,
        approvals=ASK,
        parameters=granted,
    )
    result = turn.play()
    assert answers(result)[0].endswith("[approved by the user earlier]")
    assert not build.exists()
    assert [request.shown for request in result.approvals] == ["rm -r other"]


def test_a_grant_is_for_one_folder_only(stage: Play, build: Path) -> None:
    (build / "build").mkdir()
    granted = TurnParameters(can_ask=True, grants=(Grant("terminal", "rm -r build"),))
    turn = stage(
        reply(None, runs("rm -r build", workdir="build")),
        tools=TOOLS,
        approvals=ASK,
        parameters=granted,
    )
    [request] = turn.play().approvals
    assert request.shown == "cd build && rm -r build"


def test_arguments_are_judged_as_the_tool_will_read_them(stage: Play) -> None:
    """A raw line break is unlawful JSON, but the tool understands it: so must the policy."""
    turn = stage(
        reply(None, calls("terminal", '{"command": "ls\nrm -r build"}')),
        tools=TOOLS,
        approvals=ASK,
        parameters=CAN_ASK,
    )
    [request] = turn.play().approvals
    assert request.shown == "ls\nrm -r build"


def test_a_call_that_the_tool_refuses_anyway_is_not_asked_about(stage: Play) -> None:
    everything = ApprovalSettings(rules=(ApprovalRule(action="ask"),))
    turn = stage(
        reply(None, calls("echo", '{"wrod": 1}'), calls("nothing", id="c2")),
        reply("Oh."),
        approvals=everything,
        parameters=CAN_ASK,
    )
    assert turn.play().outcome is Outcome.COMPLETED


def test_calls_over_the_limit_are_not_asked_about(stage: Play, build: Path) -> None:
    turn = stage(
        reply(None, runs("rm -r build")),
        reply("Fine."),
        tools=TOOLS,
        approvals=ASK,
        parameters=TurnParameters(can_ask=True, max_tool_calls=0),
    )
    assert answers(turn.play()) == [OVER_LIMIT]


def test_a_call_is_looked_at_again_after_the_ones_before_it_ran(
    stage: Play, tmp_path: Path
) -> None:
    """The first call makes a link that leads the second one out of the workspace."""
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    wanted = (
        runs(f"ln -s {outside} way", "c1"),
        runs("touch way/a.txt", "c2"),
    )
    turn = stage(reply(None, *wanted), reply("Oh."), tools=TOOLS, approvals=ASK, parameters=CAN_ASK)
    answered = answers(turn.play())
    assert answered[1].startswith("Not run")
    assert list(outside.iterdir()) == []


def test_an_id_that_the_model_uses_twice_is_two_calls(stage: Play, build: Path) -> None:
    turn = stage(
        reply(None, runs("echo hi", "same")),
        reply(None, runs("rm -r build", "same"), runs("echo ho", "same")),
        tools=TOOLS,
        approvals=ASK,
        parameters=CAN_ASK,
    )
    result = turn.play()
    [request] = result.approvals
    ids = [part["id"] for part in result.messages[-1]["tool_calls"]]
    assert request.call_id == ids[0]
    assert len({"same", *ids}) == 3


# --- going on -------------------------------------------------------------------------------------


def paused(*wanted: ToolCall) -> tuple[Message, ...]:
    return (user("Go."), assistant("Well.", [call.as_message_part() for call in wanted]))


def go_on(**fields: Any) -> TurnParameters:
    fields = {"started": frozenset(), "steps": 2, **fields}
    return TurnParameters(can_ask=True, resumption=Resumption(**fields))


def test_an_approved_call_is_made_and_the_turn_goes_on(stage: Play, build: Path) -> None:
    call = runs("rm -r build")
    resumed = go_on(messages=paused(call), decisions={"c1": Decision.ONCE})
    turn = stage(reply("Done."), tools=TOOLS, approvals=ASK, parameters=resumed)
    result = turn.play("Go.", history=[user("Before."), assistant("Yes.")])
    output = "(no output)\n[exit code 0]\n[approved by the user: once]"
    assert (result.outcome, result.text) == (Outcome.COMPLETED, "Done.")
    assert result.messages == [
        user("Before."),
        assistant("Yes."),
        *paused(call),
        tool("c1", "terminal", output),
        assistant("Done."),
    ]
    assert turn.recorded == result.messages[-2:]
    arguments = {"command": "rm -r build"}
    assert turn.events == [
        ToolStarted("c1", "terminal", arguments),
        ToolFinished("c1", "terminal", arguments, output),
    ]
    assert not build.exists()


@pytest.mark.parametrize(
    ("by", "told"),
    [
        ("client", "Denied by the user"),
        ("timeout", "nobody answered"),
        ("superseded", "something else"),
    ],
)
def test_a_denied_call_is_not_made_and_the_model_is_told_by_whom(
    stage: Play, build: Path, by: str, told: str
) -> None:
    resumed = go_on(
        messages=paused(runs("rm -r build")),
        decisions={"c1": Decision.DENY},
        decided_by={"c1": by},
    )
    turn = stage(reply("All right."), tools=TOOLS, approvals=ASK, parameters=resumed)
    result = turn.play(None)
    [answer] = answers(result)
    assert told in answer
    assert result.text == "All right."
    assert build.is_dir()


def test_calls_that_waited_with_it_are_made_in_order(stage: Play, build: Path) -> None:
    wanted = (calls("echo", id="c1"), runs("rm -r build", "c2"), runs("sudo ls", "c3"))
    resumed = go_on(
        messages=paused(*wanted), decisions={"c2": Decision.SESSION, "c3": Decision.DENY}
    )
    turn = stage(reply("Done."), tools=TOOLS, approvals=ASK, parameters=resumed)
    first, second, third = answers(turn.play(None))
    assert first == "echo: nothing"
    assert second.endswith("[approved by the user: session]")
    assert third.startswith("Denied by the user")


def test_a_call_that_was_begun_is_never_made_again(stage: Play, build: Path) -> None:
    resumed = go_on(
        messages=paused(runs("rm -r build")),
        started=frozenset({"c1"}),
        decisions={"c1": Decision.ONCE},
    )
    turn = stage(reply("Let me look."), tools=TOOLS, approvals=ASK, parameters=resumed)
    assert answers(turn.play(None)) == [UNKNOWN_OUTCOME]
    assert turn.recorded[0] == tool("c1", "terminal", UNKNOWN_OUTCOME)
    assert build.is_dir()


def test_a_call_that_was_never_begun_is_made_after_a_crash(stage: Play) -> None:
    wanted = (calls("echo", id="c1"), calls("echo", '{"word": "two"}', id="c2"))
    messages = (*paused(*wanted), tool("c1", "echo", "echo: nothing"))
    turn = stage(reply("Done."), parameters=go_on(messages=messages, steps=3))
    assert answers(turn.play(None)) == ["echo: nothing", "echo: two"]


def test_a_call_that_was_never_decided_is_asked_about_again(stage: Play, build: Path) -> None:
    resumed = go_on(messages=paused(runs("rm -r build")))
    turn = stage(tools=TOOLS, approvals=ASK, parameters=resumed)
    assert turn.play(None).outcome is Outcome.ASKING


def test_a_decision_is_for_its_call_only(stage: Play, build: Path) -> None:
    """The model uses the approved id again, for something else."""
    resumed = go_on(messages=paused(runs("rm -r other")), decisions={"c1": Decision.ONCE})
    turn = stage(
        reply(None, runs("rm -r build", "c1")), tools=TOOLS, approvals=ASK, parameters=resumed
    )
    result = turn.play(None)
    assert [request.shown for request in result.approvals] == ["rm -r build"]
    assert build.is_dir()


def test_the_clients_calls_still_wait_for_the_client(stage: Play, build: Path) -> None:
    theirs = {"type": "function", "function": {"name": "theirs", "parameters": {}}}
    wanted = (runs("rm -r build", "c1"), calls("theirs", id="c2"))
    resumption = Resumption(
        messages=paused(*wanted), started=frozenset(), decisions={"c1": Decision.ONCE}
    )
    parameters = TurnParameters(
        can_ask=True, client_tools=ClientTools(tools=(theirs,)), resumption=resumption
    )
    result = stage(tools=TOOLS, approvals=ASK, parameters=parameters).play(None)
    assert result.outcome is Outcome.WAITING
    assert [part["id"] for part in result.pending] == ["c2"]


def test_a_turn_that_had_no_open_calls_just_asks_the_model_again(stage: Play) -> None:
    turn = stage(reply("Hello."), parameters=go_on(messages=(user("Go."),), steps=1))
    assert turn.play("Go.").messages == [user("Go."), assistant("Hello.")]
    assert turn.recorded == [assistant("Hello.")]


def test_limits_count_on(stage: Play) -> None:
    messages = (*paused(calls("echo", id="c0")), tool("c0", "echo", "echo: nothing"))
    resumption = Resumption(messages=messages, started=frozenset({"c0"}))
    turn = stage(
        reply(None, calls("echo", id="c1")),
        max_iterations=2,
        parameters=TurnParameters(max_tool_calls=1, resumption=resumption),
    )
    result = turn.play(None)
    assert result.outcome is Outcome.TRUNCATED
    assert answers(result)[-1] == OVER_LIMIT


def test_a_log_with_a_question_in_it_is_lawful(stage: Play, build: Path) -> None:
    turn = stage(reply(None, runs("rm -r build")), tools=TOOLS, approvals=ASK, parameters=CAN_ASK)
    turn.play()
    laws = Laws()
    assert all(laws.admits(event) for event in turn.events)
