"""Somebody else's JSON: what is not there, or not what was expected, is empty."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.backends.drivers.foreign_json import count, inner, items, object_of, text

MESSAGE = {"item": {"id": "7", "usage": {"read": 3}}, "parts": [{"a": 1}, 2, {"b": 3}], "n": 5}


def test_what_is_there_is_found_along_its_path() -> None:
    assert text(MESSAGE, "item", "id") == "7"
    assert inner(MESSAGE, "item", "usage") == {"read": 3}
    assert count(MESSAGE, "item", "usage", "read") == 3
    assert items(MESSAGE, "parts") == [{"a": 1}, {"b": 3}]


@pytest.mark.parametrize("path", [("no",), ("n", "deeper"), ("parts", "a"), ("item", "id", "x")])
def test_what_is_not_there_is_empty(path: tuple[str, ...]) -> None:
    found = (text(MESSAGE, *path), inner(MESSAGE, *path), count(MESSAGE, *path))
    assert found == ("", {}, 0)
    assert items(MESSAGE, *path) == []


@pytest.mark.parametrize("value", [True, -1, "3", None, float("nan"), float("inf"), 10**30])
def test_what_is_no_number_of_things_counts_nothing(value: Any) -> None:
    assert count({"n": value}, "n") == 0


@pytest.mark.parametrize("line", [b"", b"[]", b"3", b"{", b'{"a":\xff}', b'"{}"', b"[" * 99_999])
def test_only_an_object_is_an_object(line: bytes) -> None:
    assert object_of(line) is None


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (b'{"a": "gr\xfc\xdf"}', "gr\ufffd\ufffd"),
        (b'{"a": "half \\ud83d"}', "half ?"),
        (b'{"a": "\\ud83d\\ude00"}', "\N{GRINNING FACE}"),
    ],
)
def test_what_could_not_be_sent_on_is_replaced(line: bytes, read: str) -> None:
    assert object_of(line) == {"a": read}
