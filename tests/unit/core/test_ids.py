"""Ids: unguessable ones, and the name of a chat."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.ids import derive_chat_session_id, new_id

prompts = st.none() | st.text()
readable = st.text(st.characters(exclude_characters="\0"))


def test_a_new_id_is_its_prefix_and_96_random_bits() -> None:
    assert re.fullmatch(r"resp_[0-9a-f]{24}", new_id("resp_"))


def test_a_thousand_ids_are_all_different() -> None:
    assert len({new_id("") for _ in range(1000)}) == 1000


@given(prompts, st.text())
def test_the_same_opening_has_the_same_name(prompt: str | None, first: str) -> None:
    name = derive_chat_session_id(prompt, first)
    assert name == derive_chat_session_id(prompt, first)
    assert re.fullmatch(r"api-[0-9a-f]{16}", name)


@given(readable, readable.filter(bool))
def test_prompt_and_message_do_not_run_into_each_other(prompt: str, first: str) -> None:
    assert derive_chat_session_id(prompt, first) != derive_chat_session_id(prompt + first, "")


def test_no_prompt_and_an_empty_prompt_are_the_same_opening() -> None:
    assert derive_chat_session_id(None, "hi") == derive_chat_session_id("", "hi")


@pytest.mark.parametrize("first", ["\ud800", "\0", "🎈"])
def test_text_that_is_hard_to_encode_still_has_a_name(first: str) -> None:
    assert derive_chat_session_id("p", first).startswith("api-")
