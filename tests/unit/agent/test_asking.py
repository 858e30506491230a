"""One call to the model: tried again while nothing was shown, never repeated afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import ConnectionLost, ProviderError
from hermes.providers.refusals import RefusedByProvider
from tests.unit.agent.calls import (
    Call,
    ManagedStream,
    RemoteProtocolError,
    breaking,
    call_event,
    call_piece,
    chunk,
    response,
    text_event,
)

LOST = ConnectionLost("The line is dead.")
BROKEN = RemoteProtocolError("peer closed connection without sending complete message body")
USAGE = {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}
FINAL_CALL = {"type": "function_call", "call_id": "c9", "name": "ls", "arguments": "{}"}


# --- streams that end well ------------------------------------------------------------------------


def test_a_stream_is_passed_on_piece_by_piece_and_returned_whole() -> None:
    call = Call([chunk("Hel"), chunk("lo."), chunk(finish="stop"), {"choices": [], "usage": USAGE}])
    reply = call.stream()
    assert (reply.text, reply.finish_reason, reply.error) == ("Hello.", "stop", None)
    assert reply.raw_usage == USAGE
    assert call.shown == ["Hel", "lo."]
    assert call.touched == ["receiving stream response"] * 4
    assert (call.opened, call.closed) == (1, 1)


def test_thinking_is_passed_on_apart_from_the_text() -> None:
    call = Call([chunk(thought="Hm."), chunk("Yes.", finish="stop")])
    assert call.stream().reasoning == "Hm."
    assert (call.shown, call.thoughts) == (["Yes."], ["Hm."])


def test_the_first_sign_of_life_is_told_once_before_anything_is_shown() -> None:
    call = Call([chunk(thought="Hm."), chunk("Yes."), chunk("!", finish="stop")])
    seen: list[list[str]] = []
    call.stream(lambda: seen.append([*call.shown, *call.thoughts]))
    assert seen == [[]]


def test_tool_calls_are_gathered_and_nothing_is_shown() -> None:
    pieces = [call_piece("ls", id="c1"), call_piece(arguments='{"a"'), call_piece(arguments=":1}")]
    call = Call([*[chunk(call=piece) for piece in pieces], chunk(finish="tool_calls")])
    [wanted] = call.stream().tool_calls
    assert (wanted.id, wanted.name, wanted.arguments) == ("c1", "ls", '{"a":1}')
    assert call.shown == []


# --- streams that fail before anything is shown ---------------------------------------------------


@pytest.mark.parametrize("retries", [0, 2])
def test_a_lost_connection_is_tried_again_as_often_as_allowed(retries: int) -> None:
    call = Call(*[LOST] * 9, retries=retries)
    with pytest.raises(ConnectionLost) as raised:
        call.stream()
    assert raised.value is LOST
    assert len(call.requests) == call.opened == call.closed == 1 + retries


def test_a_connection_lost_after_a_tool_name_is_tried_again_and_the_call_made_once() -> None:
    half = breaking(chunk(call=call_piece("rm", id="old")), error=LOST)
    call = Call(half, [chunk(call=call_piece("ls", id="new")), chunk(finish="tool_calls")])
    assert [wanted.name for wanted in call.stream().tool_calls] == ["ls"]


def test_another_error_is_raised_unchanged_at_once() -> None:
    error = RefusedByProvider("Wrong key.", status_code=401)
    call = Call(error)
    with pytest.raises(RefusedByProvider) as raised:
        call.stream()
    assert raised.value is error
    assert (len(call.requests), call.closed) == (1, 1)


def test_a_provider_that_cannot_stream_is_remembered() -> None:
    call = Call(ValueError("Streaming is not supported for this model"))
    with pytest.raises(ValueError, match="not supported"):
        call.stream()
    assert call.streaming_disabled
    assert len(call.requests) == 1


def test_a_foreign_iterator_that_just_ends_is_a_lost_connection() -> None:
    call = Call([], [chunk(call=call_piece("ls"))], iter(()))
    with pytest.raises(ConnectionLost, match="before its answer was complete"):
        call.stream()
    assert len(call.requests) == 3


# --- streams that fail after something was shown --------------------------------------------------


@pytest.mark.parametrize(
    "error", [LOST, RuntimeError("anything"), RefusedByProvider("Busy.", status_code=503)]
)
def test_shown_text_is_kept_and_never_asked_for_again(error: Exception) -> None:
    call = Call(breaking(chunk("Half an"), error=error))
    reply = call.stream()
    assert (reply.text, reply.tool_calls, reply.error) == ("Half an", (), str(error))
    assert call.shown == ["Half an"]
    assert (len(call.requests), call.closed) == (1, 1)


def test_a_foreign_iterator_that_breaks_off_after_text_says_so() -> None:
    reply = Call([chunk("Half an")]).stream()
    assert reply.text == "Half an"
    assert reply.error == "The provider broke off before its answer was complete."


def test_a_tool_call_lost_with_the_stream_is_shown_as_not_executed() -> None:
    call = Call(
        breaking(chunk("Let me."), chunk(call=call_piece("ls", id="c1")), error=RuntimeError("x"))
    )
    reply = call.stream()
    warning = "\n\n⚠ Stream stalled mid tool-call (ls); the action was not executed."
    assert reply.text == "Let me." + warning
    assert reply.tool_calls == ()
    assert call.shown == ["Let me.", warning]


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from(["a", "b"]), max_size=3), st.sampled_from([LOST, None])),
        min_size=1,
        max_size=5,
    )
)
def test_what_was_shown_is_what_the_reply_says(attempts: list[tuple[list[str], Any]]) -> None:
    """Whatever breaks, and however often: no piece is shown twice and none is lost."""
    streams = [
        breaking(*map(chunk, pieces), error=error)
        if error
        else [*map(chunk, pieces), chunk(finish="stop")]
        for pieces, error in attempts
    ]
    call = Call(*streams, *[LOST] * 3)
    try:
        reply = call.stream()
    except ConnectionLost:
        assert call.shown == []
    else:
        assert "".join(call.shown) == (reply.text or "")


# --- interrupts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["flag", "signal"])
def test_an_interrupt_keeps_what_was_said_and_drops_what_was_to_be_done(how: str) -> None:
    def events() -> Any:
        yield chunk("Half", call=call_piece("ls", id="c1"))
        if how == "flag":
            call.is_interrupted = True
        else:
            call.stop.set()
        yield chunk(" more", finish="stop")

    call = Call(events())
    reply = call.stream()
    assert (reply.text, reply.tool_calls, reply.error) == ("Half", (), "interrupted")
    assert call.shown == ["Half"]
    assert (len(call.requests), call.closed) == (1, 1)


def test_a_stopped_turn_opens_no_new_stream() -> None:
    call = Call(iter([chunk("never")]))
    call.stop.set()
    assert call.stream().error == "interrupted"
    assert call.shown == []


# --- without streaming ----------------------------------------------------------------------------


def whole_answer(text: str | None, **fields: Any) -> dict[str, Any]:
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    return {"model": "m", "choices": [{**choice, **fields}], "usage": USAGE}


def test_a_whole_answer_is_shown_in_one_piece() -> None:
    call = Call(whole_answer("Hello."))
    assert call.whole().text == "Hello."
    assert call.shown == ["Hello."]
    assert call.requests == [("create", {"model": "m"})]
    assert (call.opened, call.closed) == (1, 1)


def test_a_whole_answer_that_is_none_is_an_error_and_closes_the_client() -> None:
    call = Call({"choices": []})
    with pytest.raises(ProviderError):
        call.whole()
    assert (call.closed, call.whole_calls_failed) == (1, 1)


def test_a_whole_answer_that_failed_after_its_text_is_not_asked_for_again() -> None:
    failed = {**response("Half an", status="failed"), "id": "r1"}
    call = Call(failed, api_mode="codex_responses")
    reply = call.whole()
    assert (reply.text, call.shown) == ("Half an", ["Half an"])
    assert reply.error is not None
    assert (call.closed, call.whole_calls_failed) == (1, 0)


# --- the Responses dialect and its detour ---------------------------------------------------------


def codex(*streams: Any, **options: Any) -> Call:
    return Call(*streams, api_mode="codex_responses", **options)


def test_a_responses_stream_ends_with_its_final_object() -> None:
    call = codex(ManagedStream([text_event("Hel"), text_event("lo.")], response("Hello.")))
    reply = call.stream()
    assert (reply.text, reply.finish_reason, call.shown) == ("Hello.", "stop", ["Hel", "lo."])


def test_a_broken_protocol_is_tried_once_more_and_then_with_create() -> None:
    finished = {"type": "response.completed", "response": response("Hello.")}
    call = codex(BROKEN, BROKEN, [text_event("Hel"), text_event("lo."), finished])
    reply = call.stream()
    assert [method for method, _ in call.requests] == ["stream", "stream", "create"]
    assert call.requests[-1][1] == {"model": "m", "stream": True}
    assert reply.text == "Hello."
    assert call.shown == ["Hel", "lo."], "the final object must not be heard again"


def test_a_fallback_of_the_embedders_own_is_used_with_the_unchanged_request() -> None:
    seen: list[Any] = []

    def fallback(api_kwargs: Any, client: Any) -> Any:
        seen.append((dict(api_kwargs), client is not None))
        return response("Hello.")

    call = codex(BROKEN, BROKEN, fallback=fallback)
    assert call.stream().text == "Hello."
    assert seen == [({"model": "m"}, True)]


def test_tool_calls_of_a_broken_stream_are_forgotten_when_another_one_answers() -> None:
    half = ManagedStream(breaking(call_event("rm"), error=BROKEN))
    call = codex(half, ManagedStream([text_event("No.")], response("No.")))
    reply = call.stream()
    assert (reply.text, reply.tool_calls) == ("No.", ())


def test_tool_calls_of_broken_streams_are_forgotten_when_the_fallback_answers() -> None:
    halves = [ManagedStream(breaking(call_event("rm"), error=BROKEN)) for _ in range(2)]
    call = codex(*halves, fallback=lambda *_: response("", FINAL_CALL))
    assert [wanted.name for wanted in call.stream().tool_calls] == ["ls"]
    halves = [ManagedStream(breaking(call_event("rm"), error=BROKEN)) for _ in range(2)]
    call = codex(*halves, fallback=lambda *_: response("No."))
    assert call.stream().tool_calls == ()


def test_a_protocol_broken_after_text_keeps_the_text() -> None:
    call = codex(ManagedStream(breaking(text_event("Half"), error=BROKEN)))
    reply = call.stream()
    assert (reply.text, len(call.requests)) == ("Half", 1)
    assert reply.error == str(BROKEN)


@pytest.mark.parametrize(
    "detour",
    [
        lambda: breaking(text_event("Half"), error=BROKEN),
        lambda: breaking(text_event("Half"), error=LOST),
        lambda: [text_event("Half")],
    ],
)
def test_a_detour_that_breaks_off_after_text_keeps_it_and_is_not_taken_again(detour: Any) -> None:
    call = codex(BROKEN, BROKEN, detour(), *[BROKEN] * 6)
    reply = call.stream()
    assert (reply.text, call.shown) == ("Half", ["Half"])
    assert reply.error is not None
    assert len(call.requests) == 3


def test_a_detour_that_fails_before_any_text_is_tried_again_and_then_heard() -> None:
    call = codex(BROKEN, BROKEN, LOST, ManagedStream([text_event("Hello.")], response("Hello.")))
    assert call.stream().text == "Hello."
    assert call.shown == ["Hello."]
