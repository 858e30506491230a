"""What may be remembered: facts of some length, and nothing that looks like a secret."""

from __future__ import annotations

import pytest

from hermes.core.memories import LONGEST, UnfitMemory, fit_text


@pytest.mark.parametrize(
    "text",
    [
        "Ada knows basic Python and prefers Bearer bonds.",
        "The key to the shed hangs behind the door.",
        "Deploys go through task-1234-abcd, see the board.",
        "Commit 3f786850e387550fdab836ed7e6dc881de23001b broke the build.",
        "x" * LONGEST,
    ],
)
def test_facts_are_remembered(text: str) -> None:
    assert fit_text(f"  {text}\n") == text


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-" + "a1B2" * 8,
        "sk_live_" + "a1B2" * 8,
        "ghp_" + "a1B2" * 9,
        "github_pat_" + "a1B2" * 9,
        "xoxb-" + "123456789012-abc",
        "AKIA" + "ABCDEFGHIJKLMNOP",
        "AIza" + "a1B2" * 9,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
        "-----BEGIN RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_secret_is_not(secret: str) -> None:
    with pytest.raises(UnfitMemory, match="looks like a key") as refusal:
        fit_text(f"The key is {secret} for the server.")
    assert secret not in str(refusal.value)


@pytest.mark.parametrize("text", ["", " \n\t", "x" * (LONGEST + 1)])
def test_nothing_and_too_much_are_refused(text: str) -> None:
    with pytest.raises(UnfitMemory):
        fit_text(text)
