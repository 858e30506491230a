"""What servers answer becomes text that says what there was."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.core.remote_tools import RemoteAnswer
from hermes.mcp.results import answer_of


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\n\nb"),
        ({"content": []}, "(done; no output)"),
        ({"content": [], "structuredContent": {"sum": 3}}, '{"sum": 3}'),
        (
            {"content": [{"type": "text", "text": "3"}], "structuredContent": {"sum": 3}},
            "3",
        ),
        (
            {"content": [{"type": "image", "mimeType": "image/png", "data": "AAAA"}]},
            "[image, image/png, 3 bytes; not shown]",
        ),
        (
            {"content": [{"type": "resource_link", "name": "log", "uri": "file:///log"}]},
            "[resource log: file:///log]",
        ),
        (
            {"content": [{"type": "resource", "resource": {"uri": "a://b", "text": "words"}}]},
            "[resource a://b]\nwords",
        ),
        (
            {
                "content": [
                    {
                        "type": "resource",
                        "resource": {"uri": "a:b", "mimeType": "x/y", "blob": ""},
                    }
                ]
            },
            "[resource a:b, x/y, 0 bytes; not shown]",
        ),
        ({"content": [{"type": "hologram"}]}, "[hologram; not shown]"),
    ],
)
def test_every_kind_of_content_is_told(result: dict[str, Any], text: str) -> None:
    assert answer_of(result) == RemoteAnswer(text=text)


def test_an_error_is_a_problem_even_without_words() -> None:
    told = {"isError": True, "content": [{"type": "text", "text": "disk full"}]}

    assert answer_of(told) == RemoteAnswer(text="disk full", is_problem=True)
    assert answer_of({"isError": True}).text == "The tool failed without saying why."
