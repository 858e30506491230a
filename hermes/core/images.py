"""Images as bytes and as data URLs. Knows the four formats that vision models read."""

from __future__ import annotations

import base64

_SIGNATURES = (
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF87a"),
    ("image/gif", b"GIF89a"),
)

IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def image_type_of(data: bytes) -> str | None:
    """The media type that the first bytes show; None for everything but the four formats."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for kind, start in _SIGNATURES if data.startswith(start)), None)


def data_url(media_type: str, data: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"
