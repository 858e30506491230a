"""A session as a document: out and in again without a change, and nothing else gets in."""

from __future__ import annotations

import copy
import json
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import InvalidRequest
from hermes.wire.session_transfer import (
    LATEST,
    ROLES,
    export_document,
    export_text,
    file_name,
    parse_import,
)

CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
DOCUMENT: dict[str, Any] = {
    "object": "hermes.session.export",
    "version": 1,
    "session": {"id": "s", "source": "api", "started_at": 1.5},
    "messages": [
        {"role": "user", "content": "hi", "timestamp": 2},
        {"role": "assistant", "content": None, "timestamp": 3.5, "tool_calls": [CALL]},
        {
            "role": "tool",
            "content": [{"type": "text", "text": "seen"}],
            "timestamp": 4.5,
            "tool_call_id": "c",
            "tool_name": "look",
        },
    ],
}

texts = st.text(max_size=30)
moments = st.floats(0, LATEST)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
sessions = st.fixed_dictionaries(
    {
        "id": st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=40),
        "source": st.text(min_size=1, max_size=9),
        "started_at": moments,
        "title": st.none() | st.text(max_size=200),
        "model": st.none() | texts,
        "parent_session_id": st.none() | texts,
        "ended_at": st.none() | moments,
        "end_reason": st.none() | texts,
        "updated_at": moments,
    }
)
messages = st.fixed_dictionaries(
    {
        "role": st.sampled_from(ROLES),
        "content": st.none() | texts | st.lists(st.dictionaries(texts, json_values, max_size=3)),
        "timestamp": moments,
    },
    optional={
        "tool_calls": st.lists(st.just(CALL), min_size=1, max_size=2),
        "tool_call_id": texts,
        "tool_name": texts,
    },
)


@given(session=sessions, said=st.lists(messages, max_size=4))
def test_what_goes_out_comes_in_again(session: dict[str, Any], said: list[dict[str, Any]]) -> None:
    stored = [{"id": at, "run_id": "run_1", "step": at, **each} for at, each in enumerate(said)]
    written = export_text(export_document({**session, "message_count": len(said)}, stored))
    old_id, head, read = parse_import(json.loads(written))

    assert old_id == session["id"]
    assert {**asdict(head), "id": old_id, "updated_at": session["updated_at"]} == session
    assert [
        {name: value for name, value in asdict(message).items() if value is not None}
        for message in read
    ] == [{name: value for name, value in each.items() if value is not None} for each in said]


def test_lone_surrogates_survive() -> None:
    stored = [{"role": "tool", "content": "a\ud800b", "timestamp": 1.0}]
    session = {"id": "s", "source": "x", "started_at": 1.0}
    written = export_text(export_document(session, stored)).encode("ascii")

    assert parse_import(json.loads(written))[2][0].content == "a\ud800b"


@pytest.mark.parametrize(
    ("place", "value", "param"),
    [
        (["object"], "other", "object"),
        (["version"], 2, "version"),
        (["version"], None, "version"),
        (["session"], None, "session"),
        (["session"], [], "session"),
        (["session", "id"], "", "session.id"),
        (["session", "id"], "x" * 257, "session.id"),
        (["session", "id"], "a\nb", "session.id"),
        (["session", "source"], None, "session.source"),
        (["session", "title"], "x" * 201, "session.title"),
        (["session", "title"], 5, "session.title"),
        (["session", "started_at"], "now", "session.started_at"),
        (["session", "started_at"], True, "session.started_at"),
        (["session", "ended_at"], -1, "session.ended_at"),
        (["session", "extra"], 1, "session.extra"),
        (["messages"], None, "messages"),
        (["messages", 0], "hi", "messages[0]"),
        (["messages", 0, "role"], "robot", "messages[0].role"),
        (["messages", 0, "content"], 5, "messages[0].content"),
        (["messages", 0, "content"], ["text"], "messages[0].content"),
        (["messages", 0, "timestamp"], None, "messages[0].timestamp"),
        (["messages", 0, "timestamp"], float("nan"), "messages[0].timestamp"),
        (["messages", 0, "timestamp"], 1e300, "messages[0].timestamp"),
        (["messages", 0, "secret"], 1, "messages[0].secret"),
        (["messages", 1, "tool_calls"], {}, "messages[1].tool_calls"),
        (["messages", 1, "tool_calls", 0], "c", "messages[1].tool_calls[0]"),
        (["messages", 1, "tool_calls", 0, "id"], 5, "messages[1].tool_calls[0].id"),
        (["messages", 1, "tool_calls", 0, "function"], 5, "messages[1].tool_calls[0].function"),
        (
            ["messages", 1, "tool_calls", 0, "function", "name"],
            "",
            "messages[1].tool_calls[0].function.name",
        ),
        (["messages", 2, "tool_call_id"], 5, "messages[2].tool_call_id"),
    ],
)
def test_what_could_not_be_kept_is_refused_by_its_place(
    place: list[Any], value: Any, param: str
) -> None:
    document = copy.deepcopy(DOCUMENT)
    inner: Any = document
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    with pytest.raises(InvalidRequest) as refusal:
        parse_import(document)
    assert refusal.value.param == param


def test_the_document_itself_is_fine() -> None:
    assert len(parse_import(DOCUMENT)[2]) == 3


@pytest.mark.parametrize(
    ("session_id", "name"),
    [
        ("session-1", "hermes-session-session-1.json"),
        ('a"; rm -rf /\r\nX: y', "hermes-session-a-rm--rf-X-y.json"),
        ("../../etc/passwd", "hermes-session-etc-passwd.json"),
        ("日本", "hermes-session-export.json"),
        ("x" * 500, f"hermes-session-{'x' * 80}.json"),
    ],
)
def test_the_name_of_the_file_is_harmless(session_id: str, name: str) -> None:
    assert file_name(session_id) == name
