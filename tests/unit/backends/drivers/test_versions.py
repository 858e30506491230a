"""Versions in what CLIs print."""

from __future__ import annotations

import pytest

from hermes.backends.drivers.versions import is_tested, version_in, written

TESTED = ((2, 1, 197), (2, 1, 325))


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("2.1.325 (Claude Code)", (2, 1, 325)),
        ("codex-cli 0.166.0\n", (0, 166, 0)),
        ("v1.18.33", (1, 18, 33)),
        ("some-agent 3.2-alpha.1", (3, 2)),
        ("Node 20 is too old\ntool 1.4.0", (1, 4, 0)),
        ("command not found", ()),
        ("", ()),
    ],
)
def test_a_version_is_found_in_what_is_printed(printed: str, version: tuple[int, ...]) -> None:
    assert version_in(printed) == version


def test_numbers_inside_a_word_are_no_version() -> None:
    assert version_in("x1.2.3 agent 4.5.6") == (4, 5, 6)


def test_a_version_is_written_with_dots() -> None:
    assert written((2, 1, 325)) == "2.1.325"


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ((2, 1, 196), False),
        ((2, 1, 197), True),
        ((2, 1, 325), True),
        ((2, 2, 0), False),
        ((), False),
    ],
)
def test_only_what_lies_in_the_range_was_tested(
    version: tuple[int, ...], *, expected: bool
) -> None:
    assert is_tested(version, TESTED) is expected
