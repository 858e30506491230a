"""What agents know of windows and tokens, and learn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes.agent.context import NOT_SHORTENED, Contexts, ContextSeams, Learnt, Shortened
from hermes.core.messages import assistant, user
from hermes.providers.base import Prompt
from hermes.settings.model import ProviderSettings
from tests.unit.agent.stage import reply


def asked(model: str, window: int | None = None, at: str = "") -> ProviderSettings:
    return ProviderSettings(provider="custom", model=model, base_url=at, context_window=window)


SAID = [user(str(at)) for at in range(6)]


def prompt(*texts: str) -> Prompt:
    return Prompt(model="gpt-4", system="s", messages=[user(text) for text in texts], tools=())


def seams(contexts: Contexts, window: int | None = None) -> ContextSeams:
    return ContextSeams(
        contexts=contexts,
        provider=lambda: asked("gpt-4", window),
        ask_aside=lambda _question, _most: reply(),
    )


def test_what_is_configured_comes_before_the_table_and_what_is_stated_before_more() -> None:
    contexts = Contexts()
    assert contexts.window(asked("gpt-4")) == 8_192
    assert contexts.window(asked("gpt-4", 100_000)) == 100_000
    assert not contexts.knows_window(asked("gpt-4"))
    contexts.learn_window(asked("gpt-4"), 4_096)
    assert contexts.window(asked("gpt-4", 100_000)) == 4_096
    assert contexts.window(asked("gpt-4", 2_000)) == 2_000
    assert contexts.window(asked("gpt-4o")) == 128_000
    assert contexts.window(asked("gpt-4", at="http://elsewhere")) == 8_192
    assert contexts.knows_window(asked("gpt-4"))
    assert contexts.knows_window(asked("m", 2_000))


def test_a_model_that_counts_more_is_believed_at_once_and_one_that_counts_less_slowly() -> None:
    contexts = Contexts()
    assert contexts.ratio(asked("m")) == 1.0
    contexts.learn_ratio(asked("m"), estimated=1000, counted=1500)
    assert contexts.ratio(asked("m")) == 1.5
    contexts.learn_ratio(asked("m"), estimated=1000, counted=700)
    assert 1.3 < contexts.ratio(asked("m")) < 1.5
    for _ in range(100):
        contexts.learn_ratio(asked("m"), estimated=1000, counted=700)
    assert 0.69 < contexts.ratio(asked("m")) < 0.71
    assert contexts.ratio(asked("other")) == 1.0


@given(st.integers(0, 10**9), st.integers(-1, 10**9))
def test_no_count_leads_far_away(estimated: int, counted: int) -> None:
    contexts = Contexts()
    contexts.learn_ratio(asked("m"), estimated=estimated, counted=counted)
    assert 0.5 <= contexts.ratio(asked("m")) <= 2.0


def test_small_prompts_teach_nothing() -> None:
    contexts = Contexts()
    contexts.learn_ratio(asked("m"), estimated=20, counted=40)
    contexts.learn_ratio(asked("m"), estimated=20_000, counted=0)
    assert contexts.ratio(asked("m")) == 1.0


def test_a_short_plain_conversation_is_not_counted() -> None:
    contexts = Contexts()
    assert seams(contexts).surely_fits(prompt("Hi"))
    assert not seams(contexts).surely_fits(prompt("x" * 2_000))
    assert seams(contexts, window=100_000).surely_fits(prompt("x" * 2_000))
    with_calls = Prompt(model="gpt-4", system="", messages=[assistant(None, [{}])], tools=())
    assert not seams(contexts).surely_fits(with_calls)


def test_tools_are_counted_once_for_each_list_of_them() -> None:
    contexts, tools = Contexts(), [{"name": "look"}]
    counted = contexts.of_tools(tools)
    tools.append({"name": "listen"})
    assert contexts.of_tools(tools) == counted
    assert contexts.of_tools(list(tools)) > counted


def test_what_was_not_used_for_longest_is_forgotten_first() -> None:
    learnt: Learnt[str, int] = Learnt(2)
    learnt.put("a", 1)
    learnt.put("b", 2)
    assert learnt.get("a") == 1
    learnt.put("c", 3)
    assert [learnt.get(key) for key in "abc"] == [1, None, 3]


def test_heavy_values_leave_room_for_fewer() -> None:
    learnt: Learnt[str, int] = Learnt(10, lambda value: value)
    learnt.put("a", 4)
    learnt.put("b", 4)
    learnt.put("a", 6)
    assert (learnt.get("a"), learnt.get("b")) == (6, 4)
    learnt.put("c", 11)
    assert [learnt.get(key) for key in "abc"] == [None, None, None]


def test_a_shorter_form_stands_for_the_first_messages_and_can_get_shorter() -> None:
    assert NOT_SHORTENED.followed_by(SAID) == SAID
    note = user("note")
    once = NOT_SHORTENED.cut_at(3, [note])
    assert once == Shortened(3, (note,), 1)
    assert once.followed_by(SAID) == [note, *SAID[3:]]
    twice = once.cut_at(2, [user("other")])
    assert twice == Shortened(4, (user("other"),), 1)
    within = Shortened(4, (note, *SAID[1:4]), 1).cut_at(2, [user("other")])
    assert within.followed_by(SAID) == [user("other"), *SAID[2:]]
