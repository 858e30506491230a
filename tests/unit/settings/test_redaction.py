"""Masking what looks like a secret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.settings.redaction import mask, names_a_secret


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer ***"),
        ("basic dXNlcjpwYXNz", "basic ***"),
        ("key sk-proj-abc_DEF-123, next", "key ***, next"),
        ("http://ada:hunter2@a.example/x", "http://***@a.example/x"),
        ("a task-force of bearers", "a task-force of bearers"),
        ("mail ada@a.example", "mail ada@a.example"),
    ],
)
def test_only_what_looks_like_a_secret_is_masked(text: str, masked: str) -> None:
    assert mask(text) == masked


SECRETS = st.text(st.characters(codec="utf-8", exclude_characters="*"), min_size=4, max_size=20)


@given(before=st.text(), after=st.text(), secrets=st.lists(SECRETS, min_size=1))
def test_a_known_secret_never_survives(before: str, after: str, secrets: list[str]) -> None:
    masked = mask(before + secrets[0] + after, secrets)
    assert all(secret not in masked for secret in secrets)


@given(st.text())
def test_masking_twice_changes_nothing(text: str) -> None:
    assert mask(mask(text)) == mask(text)


@pytest.mark.parametrize("name", ["api_key", "key", "X-Api-Key", "Authorization", "auth_token"])
def test_names_of_secrets_are_recognised(name: str) -> None:
    assert names_a_secret(name)


@pytest.mark.parametrize("name", ["input_tokens", "monkey", "path", "key_count", "keys"])
def test_names_of_other_things_are_left_alone(name: str) -> None:
    assert not names_a_secret(name)
