"""Tools that the client runs itself: offered, called, waited for, and answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hermes.agent.tooling import OVER_LIMIT
from hermes.core.events import SegmentEnd, ToolFinished, ToolStarted
from hermes.core.messages import UNKNOWN_OUTCOME, assistant, tool, user
from hermes.core.turn import ClientTools, Outcome, TurnParameters
from tests.unit.agent.stage import Stage, calls, reply

Play = Callable[..., Stage]


def definition(name: str, description: str = "The client's.") -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": {"type": "object"}},
    }


def client(*names: str, **more: Any) -> TurnParameters:
    return TurnParameters(
        client_tools=ClientTools(tools=tuple(definition(name) for name in names), **more)
    )


def offered(asked: dict[str, Any]) -> list[str]:
    return [entry["function"]["name"] for entry in asked.get("tools", ())]


# --- what the model is offered --------------------------------------------------------------------


def test_the_clients_tools_stand_beside_the_servers(stage: Play) -> None:
    turn = stage(reply("Hello."), parameters=client("weather", parallel=False))
    turn.play()
    [asked] = turn.asked
    assert offered(asked) == ["echo", "refuse", "weather"]
    assert "tool_choice" not in asked
    assert asked["parallel_tool_calls"] is False


def test_a_tool_of_the_same_name_is_the_clients(stage: Play) -> None:
    turn = stage(reply(None, calls("echo")), parameters=client("echo"))
    result = turn.play()
    assert offered(turn.asked[0]) == ["refuse", "echo"]
    assert turn.asked[0]["tools"][-1] == definition("echo")
    assert result.outcome is Outcome.WAITING
    assert ("ran", "echo") not in turn.log


@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "function": {"name": "weather"}}]
)
def test_a_client_that_insists_on_a_call_means_its_own_tools(stage: Play, choice: Any) -> None:
    turn = stage(reply(None, calls("weather")), parameters=client("weather", choice=choice))
    assert turn.play().outcome is Outcome.WAITING
    assert offered(turn.asked[0]) == ["weather"]
    assert turn.asked[0]["tool_choice"] == choice


def test_a_client_that_wants_no_call_still_talks_to_an_agent(stage: Play) -> None:
    parameters = client("weather", choice="none")
    turn = stage(reply(None, calls("echo")), reply("Done."), parameters=parameters)
    assert turn.play().text == "Done."
    assert offered(turn.asked[0]) == ["echo", "refuse"]
    assert ("ran", "echo") in turn.log


def test_a_forbidden_tool_that_is_called_nevertheless_is_nobodys(stage: Play) -> None:
    parameters = client("weather", choice="none")
    turn = stage(reply(None, calls("weather")), reply("Sorry."), parameters=parameters)
    assert turn.play().outcome is Outcome.COMPLETED
    assert "no tool named 'weather'" in turn.asked[1]["messages"][-1]["content"]


# --- waiting for the client -----------------------------------------------------------------------


def test_a_call_of_a_clients_tool_ends_the_turn_with_the_call_pending(stage: Play) -> None:
    wanted = calls("weather", '{"city": "Oslo"}')
    turn = stage(reply("Let me see.", wanted), parameters=client("weather"))
    result = turn.play()
    assert (result.outcome, result.text) == (Outcome.WAITING, "Let me see.")
    assert list(result.pending) == [wanted.as_message_part()]
    assert result.is_complete
    assert turn.recorded == [user("Hi."), assistant("Let me see.", [wanted.as_message_part()])]
    assert turn.events == [SegmentEnd()]


def test_the_servers_calls_are_run_before_the_client_is_waited_for(stage: Play) -> None:
    mine, theirs = calls("echo", id="s1"), calls("weather", id="c1")
    turn = stage(reply(None, theirs, mine), parameters=client("weather"))
    result = turn.play()
    assert [call["id"] for call in result.pending] == ["c1"]
    shown = [
        event.call_id for event in turn.events if isinstance(event, ToolStarted | ToolFinished)
    ]
    assert shown == ["s1", "s1"]
    assert turn.recorded[-1] == tool("s1", "echo", "echo: nothing")
    assert len(turn.asked) == 1


def test_a_call_that_was_cut_off_is_not_waited_for(stage: Play) -> None:
    cut = reply("Hm", calls("weather", '{"ci'), finish_reason="length")
    result = stage(cut, parameters=client("weather")).play()
    assert (result.outcome, list(result.pending)) == (Outcome.TRUNCATED, [])


# --- going on -------------------------------------------------------------------------------------

ASKED = assistant(None, [calls("weather").as_message_part()])
ANSWER = {"role": "tool", "tool_call_id": "c1", "content": "Rain."}


def test_a_turn_goes_on_with_results_that_are_recorded_before_the_model_is_asked(
    stage: Play,
) -> None:
    turn = stage(reply("It rains."), parameters=TurnParameters(tool_results=(ANSWER,)))
    result = turn.play(None, history=[user("Weather?"), ASKED])
    assert [kind for kind, _ in turn.log] == ["recorded", "asked", "recorded"]
    assert turn.recorded == [ANSWER, assistant("It rains.")]
    assert turn.asked[0]["messages"][1:] == [user("Weather?"), ASKED, ANSWER]
    assert list(result.messages) == [user("Weather?"), ASKED, ANSWER, assistant("It rains.")]


def test_results_may_come_with_another_question(stage: Play) -> None:
    turn = stage(reply("It rains."), parameters=TurnParameters(tool_results=(ANSWER,)))
    turn.play("And tomorrow?", history=[user("Weather?"), ASKED])
    assert turn.asked[0]["messages"][3:] == [ANSWER, user("And tomorrow?")]


def test_results_take_their_place_before_what_was_recorded_after_the_call(stage: Play) -> None:
    both = assistant(
        None, [calls("weather").as_message_part(), calls("echo", id="s1").as_message_part()]
    )
    done = {"role": "tool", "tool_call_id": "s1", "content": "echo: x"}
    turn = stage(reply("It rains."), parameters=TurnParameters(tool_results=(ANSWER,)))
    turn.play(None, history=[user("Weather?"), both, done])
    assert turn.asked[0]["messages"][2:] == [both, ANSWER, done]


def test_a_call_the_client_never_answered_has_an_unknown_outcome(stage: Play) -> None:
    turn = stage(reply("Never mind."))
    turn.play("Forget it.", history=[user("Weather?"), ASKED])
    assert turn.asked[0]["messages"][-2]["content"] == UNKNOWN_OUTCOME


# --- how many calls -------------------------------------------------------------------------------


def test_calls_over_the_clients_limit_are_not_run_and_the_model_is_told(stage: Play) -> None:
    turn = stage(
        reply(None, calls("echo", id="a"), calls("echo", id="b")),
        reply(None, calls("echo", id="c")),
        reply("Enough."),
        parameters=TurnParameters(max_tool_calls=1),
    )
    result = turn.play()
    answers = {m["tool_call_id"]: m["content"] for m in result.messages if m["role"] == "tool"}
    assert answers == {"a": "echo: nothing", "b": OVER_LIMIT, "c": OVER_LIMIT}
    assert [event.call_id for event in turn.events if isinstance(event, ToolStarted)] == ["a"]
    assert (result.outcome, result.text) == (Outcome.COMPLETED, "Enough.")


def test_the_clients_own_calls_are_not_limited(stage: Play) -> None:
    parameters = TurnParameters(
        client_tools=ClientTools(tools=(definition("weather"),)), max_tool_calls=0
    )
    assert stage(reply(None, calls("weather")), parameters=parameters).play().pending
