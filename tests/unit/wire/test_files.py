"""Forms and queries of the file routes, and the objects they are answered with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types import FileDeleted, FileObject

from hermes.core.errors import InvalidRequest
from hermes.core.uploads import FilePage, UploadedFile
from hermes.wire.files import (
    MAX_NAME,
    PURPOSES,
    UploadForm,
    file_deleted,
    file_list,
    file_object,
    parse_form,
    parse_list,
    shown_name,
)

FILE = UploadedFile(
    id="file-1", filename="a.txt", purpose="user_data", bytes=3, created_at=10, expires_at=None
)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_every_purpose_is_taken(purpose: str) -> None:
    assert parse_form({"purpose": purpose}) == UploadForm(purpose, None)


def test_an_expiry_counts_from_the_creation() -> None:
    fields = {"expires_after[anchor]": "created_at", "expires_after[seconds]": "3600"}

    assert parse_form({"purpose": "batch", **fields}) == UploadForm("batch", 3600)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({}, "purpose"),
        ({"purpose": ""}, "purpose"),
        ({"purpose": "fun"}, "purpose"),
        ({"expires_after[seconds]": "3600"}, "expires_after[anchor]"),
        ({"expires_after[anchor]": "now"}, "expires_after[anchor]"),
        ({"expires_after[anchor]": "created_at"}, "expires_after[seconds]"),
        (
            {"expires_after[anchor]": "created_at", "expires_after[seconds]": "3599"},
            "expires_after[seconds]",
        ),
        (
            {"expires_after[anchor]": "created_at", "expires_after[seconds]": "2592001"},
            "expires_after[seconds]",
        ),
    ],
)
def test_a_form_that_makes_no_sense_is_refused_by_field(fields: dict[str, str], param: str) -> None:
    given_fields = fields if param == "purpose" else {"purpose": "batch", **fields}
    with pytest.raises(InvalidRequest) as caught:
        parse_form(given_fields)

    assert caught.value.param == param


def test_a_list_is_asked_for_page_by_page() -> None:
    assert parse_list({}) == FilePage(limit=10_000)
    query = {"limit": "5", "after": "file-1", "order": "asc", "purpose": "vision"}
    assert parse_list(query) == FilePage(
        limit=5, after="file-1", is_ascending=True, purpose="vision"
    )


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "0"},
        {"limit": "10001"},
        {"limit": "five"},
        {"limit": "-1"},
        {"order": "random"},
        {"purpose": "fun"},
    ],
)
def test_a_query_that_makes_no_sense_is_refused_by_name(query: dict[str, str]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_list(query)

    assert [caught.value.param] == list(query)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\a.txt", "a.txt"),
        ("a\nb\x00.txt", "a_b_.txt"),
        ("half\ud800.txt", "half?.txt"),
        ("grüße 你好.md", "grüße 你好.md"),
    ],
)
def test_a_name_is_one_printable_line(raw: str, name: str) -> None:
    assert shown_name(raw) == name


@given(st.text(st.characters(), min_size=1, max_size=300))
def test_a_name_is_shown_safely_or_refused(raw: str) -> None:
    try:
        name = shown_name(raw)
    except InvalidRequest as error:
        assert error.param == "filename"
        return
    assert name.isprintable()
    assert name.encode()
    assert len(name) <= MAX_NAME
    assert shown_name(name) == name


def test_the_objects_are_those_of_the_sdk() -> None:
    FileObject.model_validate(file_object(FILE), strict=True)
    FileDeleted.model_validate(file_deleted("file-1"), strict=True)


def test_a_list_names_its_ends() -> None:
    other = UploadedFile(
        id="file-2", filename="b", purpose="batch", bytes=0, created_at=11, expires_at=12
    )

    assert file_list([FILE, other], has_more=True) == {
        "object": "list",
        "data": [file_object(FILE), file_object(other)],
        "first_id": "file-1",
        "last_id": "file-2",
        "has_more": True,
    }
    assert file_list([], has_more=False)["first_id"] is None
