"""An image is known by its first bytes, whatever it is called."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.images import data_url, image_type_of


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\nrest", "image/png"),
        (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
        (b"GIF87arest", "image/gif"),
        (b"GIF89arest", "image/gif"),
        (b"RIFF\x10\x00\x00\x00WEBPrest", "image/webp"),
        (b"RIFF\x10\x00\x00\x00WAVErest", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
        (b"%PDF-1.7", None),
        (b"", None),
    ],
)
def test_the_first_bytes_tell_the_type(data: bytes, media_type: str | None) -> None:
    assert image_type_of(data) == media_type


@given(st.binary())
def test_a_data_url_holds_every_byte(data: bytes) -> None:
    head, _, encoded = data_url("image/png", data).partition(",")
    assert (head, base64.b64decode(encoded)) == ("data:image/png;base64", data)
