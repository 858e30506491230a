"""The estimate of an input's tokens."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.messages import assistant, user
from hermes.core.tokens import (
    PER_IMAGE,
    PER_MESSAGE,
    estimate_tokens,
    quick_bound,
    text_tokens,
)

IMAGE = {"type": "image_url", "image_url": {"url": "https://a.b/c.png"}}


def test_four_letters_are_a_token_and_a_message_costs_a_little_more() -> None:
    assert estimate_tokens([]) == 0
    assert estimate_tokens([user("12345678")]) == PER_MESSAGE + 2
    assert estimate_tokens([user("123456789")]) == PER_MESSAGE + 3
    assert estimate_tokens([user("12345678")], prompt="1234") == 2 * PER_MESSAGE + 2 + 1


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("The quick brown fox jumps over the lazy dog. " * 20, 180, 300),
        ("敏捷的棕色狐狸跳过了懒狗。" * 20, 180, 330),
        ("Быстрая коричневая лиса прыгает через собаку. " * 20, 250, 620),
        (json.dumps([{"id": 7, "name": "x_y", "tags": ["a", "b"]}] * 20), 280, 520),
    ],
)
def test_every_script_is_met_within_a_third_or_so(text: str, least: int, most: int) -> None:
    assert least <= text_tokens(text) <= most


def test_images_calls_and_what_is_replayed_count() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    replay = {"api_mode": "codex_responses", "items": [{"encrypted_content": "x" * 6000}]}
    assert estimate_tokens([user([IMAGE])]) == PER_MESSAGE + PER_IMAGE
    assert estimate_tokens([assistant(None, [call])]) > PER_MESSAGE
    assert estimate_tokens([{**assistant("Hi"), "replay": replay}]) > 1000
    assert estimate_tokens([], tools=[{"name": "f"}]) > 0


@given(st.text(), st.text())
def test_more_text_never_counts_less(text: str, more: str) -> None:
    assert estimate_tokens([user(text)]) <= estimate_tokens([user(text + more)])


@given(st.lists(st.text()))
def test_the_quick_bound_is_never_below_the_estimate(texts: list[str]) -> None:
    messages = [user(text) for text in texts]
    bound = quick_bound(messages)
    assert bound is not None
    assert estimate_tokens(messages) <= bound + len(messages)


@pytest.mark.parametrize(
    "message",
    [user([IMAGE]), assistant(None), {**assistant("Hi"), "replay": {}}, assistant("", [{}])],
)
def test_only_plain_text_has_a_quick_bound(message: dict[str, object]) -> None:
    assert quick_bound([user("Hi"), message]) is None
