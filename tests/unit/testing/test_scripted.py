"""Models for tests, without a socket."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.testing.replies import (
    Answer,
    Broken,
    Finish,
    HttpError,
    Reasoning,
    Text,
    ToolUse,
    answer_of,
    in_words,
    refusal,
    structured,
)
from hermes.testing.scripted import (
    EchoModel,
    ModelRequest,
    ScriptedModel,
    ScriptExhausted,
    StreamOf,
)


def chat(text: str = "hi", model: str = "m") -> ModelRequest:
    body = {"model": model, "messages": [{"role": "user", "content": text}]}
    return ModelRequest(dialect="chat", body=body)


def test_a_script_is_replied_from_in_order_and_requests_are_kept() -> None:
    model = ScriptedModel([Text("one"), Text("two")])
    first, second = chat("a"), chat("b")
    assert [model.reply(first), model.reply(second)] == [Text("one"), Text("two")]
    assert model.requests == [first, second]


def test_one_request_too_many_is_an_error_that_says_what_to_do() -> None:
    model = ScriptedModel([Text("only")])
    model.reply(chat())
    with pytest.raises(ScriptExhausted, match="add one for every request"):
        model.reply(chat())


def test_the_last_request_is_at_hand() -> None:
    model = ScriptedModel([Text("one"), Text("two")])
    with pytest.raises(LookupError, match="not been asked anything"):
        _ = model.last_request
    model.reply(chat("a"))
    model.reply(chat("b"))
    assert model.last_request.last_user_text == "b"


def test_a_function_can_be_the_script() -> None:
    model = ScriptedModel(lambda request: Text(request.last_user_text.upper()))
    assert model.reply(chat("hi")) == Text("HI")
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("chat", {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant"}]}),
        ("chat", {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}),
        (
            "anthropic",
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]},
        ),
        ("responses", {"input": "hi"}),
        (
            "responses",
            {"input": [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}]},
        ),
    ],
)
def test_an_echo_finds_the_last_user_text_in_every_dialect(
    dialect: str, body: dict[str, object]
) -> None:
    assert EchoModel().reply(ModelRequest(dialect=dialect, body=body)) == Text("hi")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tokens-50-30ms", Text(pieces=["x"] * 50, interval=0.03)),
        ("tokens-7", Text(pieces=["x"] * 7)),
        ("other", Text(pieces=["x"] * 3, interval=0.5)),
        ("tokens-", Text(pieces=["x"] * 3, interval=0.5)),
    ],
)
def test_the_measure_of_a_stream_can_be_asked_for_by_name(name: str, expected: Text) -> None:
    assert StreamOf(3, "x", 0.5).reply(chat(model=name)) == expected


def test_a_reply_of_several_parts_is_one_answer() -> None:
    parts = (Reasoning("hm"), Text("a b"), ToolUse("t"))
    assert answer_of(list(parts)) == Answer(parts, "tool_calls")


def test_a_single_part_is_an_answer() -> None:
    assert answer_of(Text("hi")) == Answer((Text("hi"),), "stop")


def test_the_finish_reason_can_be_given() -> None:
    assert answer_of([Text("hi"), Finish("length")]) == Answer((Text("hi"),), "length")


def test_what_comes_before_a_break_is_delivered() -> None:
    broken = Broken(after="some words")
    assert answer_of(broken) == Answer((Text("some words"),), "stop", broken)
    assert answer_of([Text("more"), Broken()]) == Answer((Text("more"),), "stop", Broken())
    tool = Broken(after=ToolUse("t"))
    assert answer_of(tool) == Answer((ToolUse("t"),), "tool_calls", tool)


def test_nothing_can_follow_a_break() -> None:
    with pytest.raises(ValueError, match="last part"):
        answer_of([Broken(), Text("too late")])


def test_an_http_error_stays_what_it_is() -> None:
    assert answer_of(HttpError(429)) == HttpError(429)


def test_pieces_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(ValueError, match="add up"):
        Text("abc", pieces=["a", "c"])


def test_an_answer_knows_its_length() -> None:
    answer = answer_of([Text(pieces=["a", "b"], interval=0.5), Reasoning("c d e"), ToolUse("t")])
    assert isinstance(answer, Answer)
    assert (answer.duration, answer.output_tokens) == (1.0, 6)


@given(st.text())
def test_words_always_add_up_to_the_text(text: str) -> None:
    assert "".join(in_words(text)) == text


def test_a_structured_answer_is_json() -> None:
    assert structured({"n": [1, None]}) == Text('{"n": [1, null]}')


def test_a_refusal_says_when_to_come_back_where_that_helps() -> None:
    assert refusal(429, "Slow down.", code="rate_limit_exceeded", retry_after=2) == HttpError(
        429,
        {
            "error": {
                "message": "Slow down.",
                "type": "error",
                "param": None,
                "code": "rate_limit_exceeded",
            }
        },
        {"Retry-After": "2"},
    )
    assert refusal(500, "Trouble.").headers == {}


def test_thoughts_have_a_pace_and_are_counted_apart() -> None:
    answer = answer_of([Reasoning("let me think", interval=0.5), Text("Yes")])
    assert isinstance(answer, Answer)
    assert (answer.duration, answer.output_tokens, answer.reasoning_tokens) == (1.5, 4, 3)
