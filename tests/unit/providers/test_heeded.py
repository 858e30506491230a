"""What is named as ignored is what a dialect does not send, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.turn import Sampling
from hermes.providers.base import Prompt, dialect_for
from hermes.providers.heeded import DEMO, heeded, ignored_parameters

MODES = ("chat_completions", "codex_responses", "anthropic_messages")
EVERYTHING = Sampling(
    temperature=0.3,
    top_p=0.4,
    max_tokens=20_000,
    stop=("END",),
    seed=5,
    presence_penalty=0.6,
    frequency_penalty=0.7,
)
SENT_AS = {
    "max_tokens": ("max_tokens", "max_completion_tokens", "max_output_tokens"),
    "stop": ("stop", "stop_sequences"),
}

samplings = st.builds(
    Sampling,
    temperature=st.none() | st.floats(0, 2),
    top_p=st.none() | st.floats(0, 1),
    max_tokens=st.none() | st.integers(16, 10**6),
    stop=st.lists(st.sampled_from(["END", " ", "\n", "x"]), max_size=4).map(tuple),
    seed=st.none() | st.integers(0, 10),
    presence_penalty=st.none() | st.floats(-2, 2),
    frequency_penalty=st.none() | st.floats(-2, 2),
)
models = st.sampled_from(["gpt-4.1", "gpt-5-mini", "openai/o3", "claude-sonnet-4", "llama"])
efforts = st.sampled_from([None, "none", "low", "high"])


def sent(request: dict[str, Any], name: str) -> Any:
    """What the provider is told under any of a parameter's names."""
    return next((request[key] for key in SENT_AS.get(name, (name,)) if key in request), None)


@pytest.mark.parametrize("mode", MODES)
@given(sampling=samplings, model=models, effort=efforts)
def test_a_parameter_is_either_sent_as_asked_or_named_as_ignored(
    mode: str, sampling: Sampling, model: str, effort: str | None
) -> None:
    ignored = ignored_parameters(mode, model, sampling, effort)
    prompt = Prompt(
        model=model,
        system=None,
        messages=[],
        tools=[],
        sampling=sampling,
        reasoning_effort=effort,
    )
    request = dialect_for(mode).request(prompt)
    for name in Sampling.__dataclass_fields__:
        asked = getattr(sampling, name)
        if asked in (None, ()):
            assert name not in ignored
        else:
            told = sent(request, name)
            as_asked = list(asked) if name == "stop" else asked
            assert (told != as_asked) == (name in ignored), name


@pytest.mark.parametrize(
    ("mode", "model", "ignored"),
    [
        ("chat_completions", "gpt-4.1", ()),
        (
            "chat_completions",
            "gpt-5",
            ("temperature", "top_p", "stop", "presence_penalty", "frequency_penalty"),
        ),
        (
            "codex_responses",
            "gpt-4.1",
            ("stop", "seed", "presence_penalty", "frequency_penalty"),
        ),
        (
            "anthropic_messages",
            "claude-sonnet-4",
            ("top_p", "seed", "presence_penalty", "frequency_penalty"),
        ),
        (
            DEMO,
            "demo",
            ("temperature", "top_p", "seed", "presence_penalty", "frequency_penalty"),
        ),
    ],
)
def test_each_dialect_ignores_what_its_wire_does_not_know(
    mode: str, model: str, ignored: tuple[str, ...]
) -> None:
    assert ignored_parameters(mode, model, EVERYTHING) == ignored


def test_thinking_at_anthropic_leaves_nothing_to_chance() -> None:
    ignored = ignored_parameters("anthropic_messages", "claude", EVERYTHING, "high")
    assert {"temperature", "top_p"} <= set(ignored)


def test_anthropic_gets_what_fits_its_bounds_and_the_rest_is_named() -> None:
    warm = Sampling(temperature=1.5, stop=("END", "\n"))
    kept = heeded("anthropic_messages", "claude", warm)
    assert (kept.temperature, kept.stop) == (1.0, ("END",))
    assert ignored_parameters("anthropic_messages", "claude", warm) == ("temperature", "stop")


def test_top_p_alone_reaches_anthropic() -> None:
    assert ignored_parameters("anthropic_messages", "claude", Sampling(top_p=0.5)) == ()
