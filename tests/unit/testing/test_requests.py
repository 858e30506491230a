"""What a provider was asked reads the same in every dialect."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.core import messages
from hermes.core.turn import AnswerFormat, Sampling
from hermes.providers.base import Prompt, dialect_for
from hermes.testing.requests import ModelRequest

DIALECTS = {
    "chat": "chat_completions",
    "responses": "codex_responses",
    "anthropic": "anthropic_messages",
}
INLINE = "data:image/png;base64,AAAA"
REMOTE = "https://example.com/a.png"
SCHEMA = {"type": "object", "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}


def picture(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def request(dialect: str, **more: Any) -> ModelRequest:
    """What our own dialects make of a prompt, as the fake provider reads it."""
    asked = {"model": "m", "system": "Be kind.", "messages": [], "tools": [], **more}
    body = dialect_for(DIALECTS[dialect]).request(Prompt(**asked))
    return ModelRequest(dialect=dialect, body=body)


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_what_was_not_asked_for_is_not_there(dialect: str) -> None:
    asked = request(dialect, system=None)
    assert (asked.tool_names, asked.tool_choice, asked.tool_results) == ([], "auto", {})
    assert (asked.images, asked.wants_json, asked.answer_schema) == ([], False, None)
    assert (asked.system_text, asked.last_user_text) == ("", "")


def test_everything_the_model_was_told_beforehand_is_found(dialect: str) -> None:
    history = [{"role": "system", "content": "Be brief."}, messages.user("Hi.")]
    told = request(dialect, messages=history).system_text
    assert told.startswith("Be kind.")
    assert told.endswith("Be brief.")


def test_the_limit_is_found_under_each_of_its_names(dialect: str) -> None:
    for model in ("m", "gpt-5"):
        asked = request(dialect, model=model, sampling=Sampling(max_tokens=77))
        assert asked.max_tokens == 77


@pytest.mark.parametrize(
    ("choice", "seen"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ({"type": "function", "function": {"name": "weather"}}, "weather"),
    ],
)
def test_the_tools_and_the_choice_among_them_are_found(
    dialect: str, choice: Any, seen: str
) -> None:
    asked = request(dialect, tools=[TOOL], tool_choice=choice)
    assert (asked.tool_names, asked.tool_choice) == (["weather"], seen)


def test_what_tools_answered_is_found_under_the_ids_of_their_calls(dialect: str) -> None:
    history = [
        messages.user("Weather?"),
        messages.assistant(None, [CALL, {**CALL, "id": "c2"}]),
        messages.tool("c1", "weather", "Rain."),
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "Snow."}]},
    ]
    asked = request(dialect, messages=history)
    assert asked.tool_results == {"c1": "Rain.", "c2": "Snow."}


def test_every_image_is_found(dialect: str) -> None:
    history = [
        messages.user([{"type": "text", "text": "Look:"}, picture(INLINE), picture(REMOTE)]),
        messages.assistant(None, [CALL]),
        {"role": "tool", "tool_call_id": "c1", "content": [picture(INLINE)]},
    ]
    assert request(dialect, messages=history).images == [INLINE, REMOTE, INLINE]


@pytest.mark.parametrize("name", ["chat", "responses"])
def test_the_form_of_the_answer_is_found_where_there_is_a_parameter_for_it(name: str) -> None:
    by_schema = request(name, answer_format=AnswerFormat(schema=SCHEMA))
    assert (by_schema.wants_json, by_schema.answer_schema) == (True, SCHEMA)
    any_object = request(name, answer_format=AnswerFormat())
    assert (any_object.wants_json, any_object.answer_schema) == (True, None)
