"""Which media types can be read, and how."""

from __future__ import annotations

import pytest

from hermes.core.web import PageKind, page_kind


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [
        ("text/html", PageKind.HTML),
        ("application/xhtml+xml", PageKind.HTML),
        ("application/pdf", PageKind.PDF),
        ("text/markdown", PageKind.TEXT),
        ("application/ld+json", PageKind.TEXT),
        ("application/rss+xml", PageKind.TEXT),
        ("", PageKind.UNSAID),
        ("application/octet-stream", PageKind.UNSAID),
        ("image/png", None),
        ("video/mp4", None),
        ("application/zip", None),
    ],
)
def test_a_media_type_says_how_its_bytes_become_text(
    media_type: str, kind: PageKind | None
) -> None:
    assert page_kind(media_type) is kind
