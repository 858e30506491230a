"""The loop: every way a turn can go, and the one outcome it comes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.core.errors import ConnectionLost, Interrupted, ProviderError
from hermes.core.events import Laws, Notice, SegmentEnd, ToolFinished, ToolStarted
from hermes.core.messages import UNKNOWN_OUTCOME, assistant, tool, user
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.providers.refusals import RefusedByProvider
from tests.unit.agent.stage import ONE_CALL, Line, Stage, calls, echo, reply, small_tool

Play = Callable[..., Stage]


def asked_for(text: str | None, *wanted: Any) -> dict[str, Any]:
    return assistant(text, [call.as_message_part() for call in wanted])


# --- answers and tools ----------------------------------------------------------------------------


def test_an_answer_ends_the_turn(stage: Play) -> None:
    turn = stage(reply("Hello."))
    assert turn.play("Hi.") == TurnResult(
        text="Hello.",
        messages=[user("Hi."), assistant("Hello.")],
        usage=ONE_CALL,
        api_calls=1,
    )
    assert turn.events == []


def test_the_model_sees_the_prompt_the_history_the_question_and_the_tools(stage: Play) -> None:
    turn = stage(reply("Hello."))
    turn.play("Hi.", history=[user("Before."), assistant("Yes.")])
    [asked] = turn.asked
    assert asked["model"] == "first"
    assert asked["messages"] == [
        {"role": "system", "content": "Be brief."},
        user("Before."),
        assistant("Yes."),
        user("Hi."),
    ]
    assert [entry["function"]["name"] for entry in asked["tools"]] == ["echo", "refuse"]


def test_the_callers_history_is_not_changed(stage: Play) -> None:
    history = [user("Before."), assistant("Yes.")]
    result = stage(reply("Hello.")).play("Hi.", history=history)
    assert len(history) == 2
    assert list(result.messages[:2]) == history


def test_a_tool_is_run_shown_and_answered_to_the_model(stage: Play) -> None:
    wanted = calls("echo", '{"word": "x"}')
    turn = stage(reply("Looking.", wanted), reply("Done."))
    result = turn.play("Hi.")
    assert (result.outcome, result.text, result.api_calls) == (Outcome.COMPLETED, "Done.", 2)
    assert turn.events == [
        SegmentEnd(),
        ToolStarted("c1", "echo", {"word": "x"}),
        ToolFinished("c1", "echo", {"word": "x"}, "echo: x"),
    ]
    assert turn.asked[1]["messages"][1:] == [
        user("Hi."),
        asked_for("Looking.", wanted),
        {"role": "tool", "tool_call_id": "c1", "content": "echo: x"},
    ]


def test_several_tools_of_one_reply_run_in_order(stage: Play) -> None:
    wanted = [calls("echo", f'{{"word": "{word}"}}', id=word) for word in "abc"]
    turn = stage(reply(None, *wanted), reply("Done."))
    result = turn.play()
    assert [message["content"] for message in result.messages if message["role"] == "tool"] == [
        "echo: a",
        "echo: b",
        "echo: c",
    ]
    ids = [event.call_id for event in turn.events if isinstance(event, ToolStarted | ToolFinished)]
    assert ids == ["a", "a", "b", "b", "c", "c"]


def test_an_unknown_tool_is_told_to_the_model_which_may_go_on(stage: Play) -> None:
    turn = stage(reply(None, calls("rm_everything")), reply("Sorry."))
    result = turn.play()
    assert result.is_complete
    answer = turn.asked[1]["messages"][-1]["content"]
    assert "no tool named 'rm_everything'" in answer
    assert "echo, refuse" in answer


def test_a_tools_problem_is_told_to_the_model_which_may_go_on(stage: Play) -> None:
    turn = stage(reply(None, calls("refuse")), reply("All right."))
    assert turn.play().is_complete
    assert turn.asked[1]["messages"][-1]["content"] == "Do something else instead."


def test_a_tool_that_crashes_does_not_end_the_turn(stage: Play) -> None:
    crash = small_tool("crash", lambda: str(1 // 0))
    turn = stage(reply(None, calls("crash")), reply("Never mind."), tools=[crash])
    assert turn.play().is_complete
    assert "ZeroDivisionError" in turn.asked[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ("", {}),
        ('{"word": "x"}', {"word": "x"}),
        ('{"word": ', {"arguments": '{"word": '}),
        ("[1]", {"arguments": [1]}),
    ],
)
def test_arguments_are_shown_as_far_as_they_can_be_read(
    stage: Play, arguments: str, shown: dict[str, Any]
) -> None:
    turn = stage(reply(None, calls("echo", arguments)), reply("Done."))
    assert turn.play().is_complete
    started = [event for event in turn.events if isinstance(event, ToolStarted)]
    assert [event.arguments for event in started] == [shown]


def test_calls_left_open_in_the_history_are_settled_before_the_model_sees_them(
    stage: Play,
) -> None:
    turn = stage(reply("Hello."))
    turn.play("Hi.", history=[user("Before."), asked_for(None, calls("echo"))])
    assert turn.asked[0]["messages"][3] == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": UNKNOWN_OUTCOME,
    }


# --- ends that are not completions ----------------------------------------------------------------


def test_the_iteration_budget_truncates_the_turn_after_the_last_tools_ran(stage: Play) -> None:
    asked = (reply(None, calls("echo", id=f"c{number}")) for number in (1, 2, 3))
    turn = stage(*asked, max_iterations=3)
    result = turn.play()
    assert (result.outcome, result.text, result.api_calls) == (Outcome.TRUNCATED, "", 3)
    assert "max_iterations" in str(result.error)
    assert result.messages[-1] == tool("c3", "echo", "echo: nothing")
    assert len(turn.asked) == 3


def test_an_answer_cut_at_its_length_is_truncated_and_kept(stage: Play) -> None:
    result = stage(reply("Half an ans", finish_reason="length")).play()
    assert (result.outcome, result.text) == (Outcome.TRUNCATED, "Half an ans")
    assert result.error == "Response truncated due to output length limit"
    assert result.messages[-1] == assistant("Half an ans")


def test_tools_of_a_reply_cut_at_its_length_are_not_run(stage: Play) -> None:
    turn = stage(reply("So", calls("echo", '{"word'), finish_reason="length"))
    assert turn.play().outcome is Outcome.TRUNCATED
    assert ("ran", "echo") not in turn.log


def test_an_answer_stopped_by_a_content_filter_failed(stage: Play) -> None:
    result = stage(reply("Well,", finish_reason="content_filter")).play()
    assert (result.outcome, result.text) == (Outcome.FAILED, "Well,")
    assert "content filter" in str(result.error)


@pytest.mark.parametrize(
    ("reason", "outcome", "said"),
    [("length", Outcome.TRUNCATED, "length"), ("content_filter", Outcome.FAILED, "filter")],
)
def test_a_reason_to_stop_is_told_even_when_there_is_no_text(
    stage: Play, reason: str, outcome: Outcome, said: str
) -> None:
    """A model that spent its whole length on thinking would do the same again."""
    turn = stage(reply(None, finish_reason=reason))
    result = turn.play()
    assert (result.outcome, result.api_calls) == (outcome, 1)
    assert said in str(result.error)
    assert turn.events == []


def test_an_answer_that_broke_off_failed_and_is_kept(stage: Play) -> None:
    result = stage(reply("Half", error="connection lost", finish_reason=None)).play()
    assert (result.outcome, result.text) == (Outcome.FAILED, "Half")
    assert result.error == "The answer broke off: connection lost"
    assert result.messages[-1] == assistant("Half")


def test_an_empty_answer_is_asked_for_again(stage: Play) -> None:
    turn = stage(reply(None), reply("Hello."))
    assert turn.play().text == "Hello."
    [notice] = turn.events
    assert isinstance(notice, Notice)
    assert notice.code == "provider_retry"


def test_empty_answers_without_end_fail(stage: Play) -> None:
    turn = stage(*[reply(None)] * 3)
    result = turn.play()
    assert (result.outcome, result.error) == (
        Outcome.FAILED,
        "The model returned an empty answer.",
    )
    assert result.messages == [user("Hi.")]


# --- providers that fail --------------------------------------------------------------------------


def overloaded(retry_after: float | None = 0) -> RefusedByProvider:
    return RefusedByProvider("It is busy.", status_code=503, retry_after=retry_after)


def test_a_busy_provider_is_asked_again_and_the_reader_is_told(stage: Play) -> None:
    turn = stage(overloaded(), overloaded(), reply("Hello."))
    assert turn.play().text == "Hello."
    again = Notice("provider_retry", "It is busy. Trying again in 0.0 seconds.")
    assert turn.events == [again, again]
    assert turn.stop.waits == [0, 0]


def test_a_provider_that_stays_busy_fails_the_turn_with_its_own_words(stage: Play) -> None:
    turn = stage(*[overloaded()] * 3)
    result = turn.play()
    assert (result.outcome, result.error) == (Outcome.FAILED, "It is busy.")
    assert len(turn.asked) == 3


@pytest.mark.parametrize(
    "error",
    [
        RefusedByProvider("Wrong key.", status_code=401),
        RefusedByProvider("No such model.", status_code=404),
        RefusedByProvider("No credit: insufficient_quota", status_code=429),
        RefusedByProvider("maximum context length exceeded", status_code=400),
        ValueError("whatever foreign code raises"),
    ],
)
def test_what_waiting_cannot_help_is_not_tried_again(stage: Play, error: Exception) -> None:
    turn = stage(error)
    result = turn.play()
    assert (result.outcome, result.error) == (Outcome.FAILED, str(error))
    assert (len(turn.asked), turn.stop.waits) == (1, [])


def test_waits_grow(stage: Play) -> None:
    turn = stage(ConnectionLost("Gone."), ConnectionLost("Gone."), reply("Back."))
    assert turn.play().is_complete
    first, second = turn.stop.waits
    assert 0.3 < first < 0.7 < second < 1.3


@pytest.mark.parametrize("status", [400, 501])
def test_a_provider_that_cannot_stream_is_asked_again_at_once(stage: Play, status: int) -> None:
    """The failed call has switched streaming off, so the next one is a different call."""
    refusal = RefusedByProvider("streaming is not supported", status_code=status)
    turn = stage(refusal, reply("Hello."))
    assert turn.play().text == "Hello."
    assert turn.stop.waits == []


def test_a_failing_provider_is_replaced_by_the_fallback_once(stage: Play) -> None:
    wrong = RefusedByProvider("Wrong key.", status_code=401)
    turn = stage(wrong, reply(None, calls("echo")), wrong, fallbacks=["second"])
    result = turn.play()
    assert [asked["model"] for asked in turn.asked] == ["first", "second", "second"]
    assert turn.events[0] == Notice("provider_fallback", "Wrong key. Continuing with second.")
    assert (result.outcome, result.error) == (Outcome.FAILED, "Wrong key.")


def test_the_fallback_does_not_see_what_the_first_provider_wanted_back(stage: Play) -> None:
    replay = {"api_mode": "chat_completions", "items": [{"type": "reasoning.text", "text": "Hm."}]}
    turn = stage(
        reply("Looking.", calls("echo"), replay=replay),
        RefusedByProvider("Wrong key.", status_code=401),
        reply("Done."),
        fallbacks=["second"],
    )
    result = turn.play()
    first_retold, second_retold = (asked["messages"][2] for asked in turn.asked[1:])
    assert first_retold["reasoning_details"] == replay["items"]
    assert "reasoning_details" not in second_retold
    assert not any("replay" in message for message in result.messages)


def test_the_first_provider_does_not_see_later_what_the_fallback_wanted_back(stage: Play) -> None:
    replay = {"api_mode": "chat_completions", "items": [{"type": "reasoning.text", "text": "Hm."}]}
    turn = stage(
        RefusedByProvider("Wrong key.", status_code=401),
        reply("Looking.", calls("echo"), replay=replay),
        reply("Done."),
        fallbacks=["second"],
    )
    result = turn.play()
    assert turn.asked[2]["messages"][2]["reasoning_details"] == replay["items"]
    assert not any("replay" in message for message in result.messages)


def test_what_a_provider_wants_back_stays_with_its_message(stage: Play) -> None:
    result = stage(reply("Hello.", replay={"api_mode": "x", "items": []})).play()
    assert result.messages[-1]["replay"] == {"api_mode": "x", "items": []}


# --- interrupts -----------------------------------------------------------------------------------


def test_a_turn_interrupted_before_it_began_asks_nothing(stage: Play) -> None:
    turn = stage()
    turn.interrupt("The caller left")
    result = turn.play("Hi.")
    assert (result.outcome, result.error) == (Outcome.INTERRUPTED, "The caller left")
    assert result.messages == [user("Hi.")]


def test_an_interrupt_while_the_model_speaks_keeps_what_it_said(stage: Play) -> None:
    def speaking() -> Any:
        turn.interrupt()
        return reply("Half an", error="interrupted", finish_reason=None)

    turn = stage(speaking)
    result = turn.play()
    assert (result.outcome, result.text) == (Outcome.INTERRUPTED, "Half an")
    assert result.error == "The turn was interrupted."
    assert turn.recorded[-1] == assistant("Half an")


def test_an_interrupt_that_cuts_a_call_without_a_reply_is_an_interrupt(stage: Play) -> None:
    result = stage(Interrupted("The model call was stopped.")).play()
    assert result.outcome is Outcome.INTERRUPTED


def test_tools_asked_for_in_an_interrupted_reply_are_not_run(stage: Play) -> None:
    def speaking() -> Any:
        turn.interrupt()
        return reply(None, calls("echo"))

    turn = stage(speaking)
    assert turn.play().outcome is Outcome.INTERRUPTED
    assert ("ran", "echo") not in turn.log


def test_an_interrupt_while_waiting_for_a_busy_provider_ends_the_turn(stage: Play) -> None:
    def busy() -> Any:
        turn.interrupt("Enough")
        raise overloaded()

    turn = stage(busy)
    result = turn.play()
    assert (result.outcome, result.error) == (Outcome.INTERRUPTED, "Enough")


def test_an_interrupt_while_a_tool_runs_records_its_answer_and_starts_no_other(
    stage: Play,
) -> None:
    def work() -> str:
        turn.interrupt("Enough")
        return "as far as I got"

    turn = stage(
        reply(None, calls("slow", id="a"), calls("echo", id="b")),
        tools=[small_tool("slow", work), echo],
    )
    result = turn.play()
    assert (result.outcome, result.error) == (Outcome.INTERRUPTED, "Enough")
    assert [value for kind, value in turn.log if kind == "ran"] == ["slow"]
    assert turn.recorded[-1] == tool("a", "slow", "as far as I got")
    assert [type(event) for event in turn.events] == [SegmentEnd, ToolStarted, ToolFinished]


def test_an_interrupt_after_the_last_tool_asks_the_model_no_more(stage: Play) -> None:
    def work() -> str:
        turn.interrupt()
        return "done"

    turn = stage(reply(None, calls("slow")), tools=[small_tool("slow", work)])
    assert turn.play().outcome is Outcome.INTERRUPTED
    assert len(turn.asked) == 1


# --- what is kept ---------------------------------------------------------------------------------


def test_every_step_is_recorded_before_the_next_one_begins(stage: Play) -> None:
    turn = stage(reply("Looking.", calls("echo", id="a"), calls("echo", id="b")), reply("Done."))
    turn.play()
    steps = [
        (kind, value["role"] if kind == "recorded" else value)
        for kind, value in turn.log
        if kind != "event"
    ]
    assert steps == [
        ("recorded", "user"),
        ("asked", "first"),
        ("recorded", "assistant"),
        ("ran", "echo"),
        ("recorded", "tool"),
        ("ran", "echo"),
        ("recorded", "tool"),
        ("asked", "first"),
        ("recorded", "assistant"),
    ]


def test_what_is_recorded_is_what_the_result_tells(stage: Play) -> None:
    turn = stage(reply("Looking.", calls("echo")), reply("Done."))
    assert turn.recorded == []
    assert turn.play().messages == turn.recorded


def test_usage_is_summed_over_the_calls_and_counted_as_it_comes(stage: Play) -> None:
    turn = stage(reply(None, calls("echo")), reply("Done."))
    twice = Usage(input_tokens=4, output_tokens=6, total_tokens=10)
    assert turn.play().usage == turn.usage == twice


@pytest.mark.parametrize("reported", [None, Usage()])
def test_what_a_provider_did_not_count_is_estimated_and_said_to_be(
    stage: Play, reported: Usage | None
) -> None:
    turn = stage(reply("Four words are these.", usage=reported))
    used = turn.play().usage
    assert used.is_estimated
    assert used == turn.usage
    assert used.input_tokens > 0
    assert 4 <= used.output_tokens <= 20
    assert used.total_tokens == used.input_tokens + used.output_tokens


def test_the_usage_of_calls_before_a_failure_is_not_forgotten(stage: Play) -> None:
    turn = stage(reply(None, calls("echo")), ProviderError("Refused."))
    assert turn.play().usage == ONE_CALL


# --- laws -----------------------------------------------------------------------------------------

lines = st.sampled_from(
    [
        reply("Text."),
        reply(None),
        reply("Looking.", calls("echo", id="a"), calls("refuse", id="b")),
        reply(None, calls("echo", "{broken")),
        reply("Cut", finish_reason="length"),
        reply("Broke", error="lost", finish_reason=None),
        overloaded(),
        RefusedByProvider("Wrong key.", status_code=401),
        Interrupted("Stopped."),
        ValueError("foreign"),
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(lines, max_size=8))
def test_whatever_the_model_does_the_log_is_lawful_and_the_transcript_kept(
    stage: Play, script: list[Line]
) -> None:
    turn = stage(*script, *[reply("Enough.")] * 3, fallbacks=["second"], max_iterations=4)
    result = turn.play()
    laws = Laws()
    assert all(laws.admits(event) for event in turn.events)
    assert [{**message, "replay": None} for message in turn.recorded] == [
        {**message, "replay": None} for message in result.messages
    ]
    assert (result.error is None) is result.is_complete
    assert result.text if result.is_complete else result.error
