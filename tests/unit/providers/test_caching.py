"""What providers are told about prompts that begin alike."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.messages import assistant, tool, user
from hermes.providers.base import Prompt, dialect_for
from hermes.providers.caching import MARK, NO_CACHING, Caching, caching_for, with_marks
from hermes.settings.model import ProviderSettings

CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {}}}]


def at(provider: str, model: str = "m") -> ProviderSettings:
    return ProviderSettings(provider=provider, model=model)


def test_openai_is_given_a_key_that_tells_nothing_and_stays_the_same() -> None:
    caching = caching_for(at("openai"), "alice", "session-1")
    assert caching == caching_for(at("openai"), "alice", "session-1")
    assert caching.key is not None
    assert "alice" not in caching.key and "session-1" not in caching.key
    others = [caching_for(at("openai"), *scope) for scope in (("bob", "session-1"), ("alice", "2"))]
    assert caching.key not in [other.key for other in others]


@pytest.mark.parametrize(
    ("provider", "caching"),
    [
        (at("custom"), NO_CACHING),
        (at("anthropic"), NO_CACHING),
        (at("openrouter", "openai/gpt-5"), NO_CACHING),
        (at("openrouter", "anthropic/claude-sonnet-4.5"), Caching(passes_marks=True)),
    ],
)
def test_others_are_told_only_what_they_understand(
    provider: ProviderSettings, caching: Caching
) -> None:
    assert caching_for(provider, "alice", "session-1") == caching


@pytest.mark.parametrize("api_mode", ["chat_completions", "codex_responses"])
def test_the_key_is_worded_only_where_there_is_one(api_mode: str) -> None:
    asked = Prompt(model="m", system="s", messages=[user("Hi")], tools=())
    keyed = Prompt(
        model="m", system="s", messages=[user("Hi")], tools=(), caching=Caching(key="abc")
    )
    dialect = dialect_for(api_mode)
    assert "prompt_cache_key" not in dialect.request(asked)
    assert dialect.request(keyed) == {**dialect.request(asked), "prompt_cache_key": "abc"}


def test_marks_stand_at_the_system_prompt_and_the_last_words_of_the_user() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://a.b/c.png"}}
    prompt = Prompt(
        model="anthropic/claude",
        system="Be kind.",
        messages=[user("One"), assistant("1"), user("Two"), assistant("2"), user([picture])],
        tools=(),
        caching=Caching(passes_marks=True),
    )
    worded = dialect_for("chat_completions").request(prompt)["messages"]
    assert worded[0]["content"] == [{"type": "text", "text": "Be kind.", "cache_control": MARK}]
    assert worded[1] == user("One")
    assert worded[3]["content"] == [{"type": "text", "text": "Two", "cache_control": MARK}]
    assert worded[5]["content"] == [{**picture, "cache_control": MARK}]
    assert with_marks([user("")]) == [user("")]


history = st.lists(
    st.one_of(
        st.builds(user, st.text()),
        st.builds(assistant, st.text()),
        st.just(assistant(None, [CALL])),
        st.builds(tool, st.just("c"), st.just("look"), st.text()),
    ),
    max_size=12,
)


@given(history, st.sampled_from(["", "Be kind."]), st.sampled_from([(), TOOLS]))
def test_anthropic_never_gets_more_than_four_marks(
    messages: list[Any], system: str, tools: Any
) -> None:
    prompt = Prompt(model="claude", system=system, messages=messages, tools=tools)
    request = dialect_for("anthropic_messages").request(prompt)
    assert str(request).count("cache_control") <= 4


def test_tools_without_a_system_prompt_are_marked_themselves() -> None:
    anthropic = dialect_for("anthropic_messages")
    told = anthropic.request(Prompt(model="m", system="s", messages=[user("Hi")], tools=TOOLS))
    untold = anthropic.request(Prompt(model="m", system=None, messages=[user("Hi")], tools=TOOLS))
    assert "cache_control" not in told["tools"][-1]
    assert untold["tools"][-1]["cache_control"] == MARK


def test_the_mark_of_the_call_before_is_in_the_next_one_too() -> None:
    anthropic = dialect_for("anthropic_messages")
    said = [user("Hi"), assistant(None, [CALL]), tool("c", "look", "seen")]
    first = anthropic.request(Prompt(model="m", system="s", messages=said[:1], tools=TOOLS))
    second = anthropic.request(Prompt(model="m", system="s", messages=said, tools=TOOLS))
    assert second["messages"][0] == first["messages"][0]
    assert second["messages"][-1]["content"][-1]["cache_control"] == MARK
