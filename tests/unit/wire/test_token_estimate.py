"""The estimate of an input's tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes.core.messages import user
from hermes.wire.token_estimate import PER_IMAGE, PER_MESSAGE, estimate_tokens


def test_four_bytes_are_a_token_and_a_message_costs_a_little_more():
    assert estimate_tokens([]) == 0
    assert estimate_tokens([user("12345678")]) == PER_MESSAGE + 2
    assert estimate_tokens([user("123456789")]) == PER_MESSAGE + 3
    assert estimate_tokens([user("ääää")], prompt="1234") == 2 * PER_MESSAGE + 2 + 1


def test_images_and_calls_count():
    image = {"type": "image_url", "image_url": {"url": "https://a.b/c.png"}}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert estimate_tokens([user([image])]) == PER_MESSAGE + PER_IMAGE
    assert (
        estimate_tokens([{"role": "assistant", "content": None, "tool_calls": [call]}])
        > PER_MESSAGE
    )


@given(st.text(), st.text())
def test_more_text_never_counts_less(text: str, more: str):
    assert estimate_tokens([user(text)]) <= estimate_tokens([user(text + more)])
