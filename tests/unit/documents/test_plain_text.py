"""Text of every common encoding is read; what is no text is told apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.documents.plain_text import decode_text

# Any text without NUL; line ends are brought into one form, so they are left out here.
words = st.text(st.characters(exclude_categories=["Cs", "Cc"]))


@given(words, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_what_was_written_is_read(text: str, codec: str) -> None:
    # A mark at the beginning of the text itself would be taken for the file's.
    text = text.lstrip("\ufeff")
    assert decode_text(text.encode(codec)) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("\ufeffgrün".encode("utf-16-be"), "grün"),
        ("\ufeffgrün".encode("utf-32-be"), "grün"),
        ("Preis: 3 € für „Müsli“".encode("cp1252"), "Preis: 3 € für „Müsli“"),
        (b"soft\xadhyphen \x81 caf\xe9", "soft\xadhyphen \x81 café"),
        (b"one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        (b"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
        (b"", ""),
    ],
)
def test_text_of_other_origins_is_read(data: bytes, text: str) -> None:
    assert decode_text(data) == text


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04\x14\x00\x06\x00",
        b"\x7fELF\x02\x01\x01\x00",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        b"a\x00b",
        b"\xff\xfe\x00",
    ],
)
def test_what_is_no_text_is_nothing(data: bytes) -> None:
    assert decode_text(data) is None


@given(st.binary())
def test_no_file_whatever_makes_it_fail(data: bytes) -> None:
    text = decode_text(data)
    assert text is None or "\x00" not in text
