"""Makes foreign text fit to be shown: no secrets, no web pages, no control characters, not long."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 500

_MASK = "[secret]"
_LOOKS_SECRET = re.compile(
    r"(?i)\b(bearer\s+)[\w.~+/=*-]{8,}|\b(?:sk|pk|rk|xai|gsk|AIza|ghp|hf)[-_][\w*-]{8,}"
)
_WEB_PAGE = re.compile(r"(?i)<(!doctype|html|head|body)\b")
_TITLE = re.compile(r"(?is)<title[^>]{0,200}>(.{0,200}?)</title>")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\s]+")
_SHORTEST_SECRET = 8


def safe_text(text: str, *, secrets: Iterable[str | None] = ()) -> str:
    """`text` on one line, masked and capped. `secrets` are masked wherever they occur."""
    shown = text
    for secret in secrets:
        if secret and len(secret) >= _SHORTEST_SECRET:
            shown = shown.replace(secret, _MASK)
    # Whatever the length of the original, what follows costs the same.
    shown = shown[: LONGEST * 20]
    if _WEB_PAGE.search(shown[:2000]):
        shown = _title_of(shown)
    shown = _LOOKS_SECRET.sub(lambda match: (match[1] or "") + _MASK, shown)
    shown = _UNPRINTABLE.sub(" ", shown).strip()
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def _title_of(page: str) -> str:
    title = _TITLE.search(page)
    return f"a web page titled “{title[1].strip()}”" if title else "a web page, not an API answer"
