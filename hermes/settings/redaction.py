"""Masks what looks like a secret in text. The last line of defence, not a reason to log secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = "***"
SHORTEST_SECRET = 4
"""Masking every occurrence of a shorter text would make the logs unreadable."""

_LOOKS_SECRET = re.compile(
    r"(?P<scheme>\b(?i:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{4,}"
    r"|\b(?:sk|pk|rk)-[A-Za-z0-9_-]{4,}"
    r"|(?P<slashes>://)[^/@\s]+(?P<at>@)"
)
_SECRET_NAME = re.compile(r"(?i)(^|[_-])(key|apikey|token|secret|password|authorization|cookie)$")


class Mask:
    """Takes the given secrets out of text, and anything that looks like one."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        # Longest first: a secret that contains another must not leave its rest behind.
        known = sorted(secrets, key=len, reverse=True)
        self._secrets = tuple(secret for secret in known if len(secret) >= SHORTEST_SECRET)

    def over(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return _LOOKS_SECRET.sub(_masked, text)


def mask(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without the given secrets and without anything that looks like one."""
    return Mask(secrets).over(text)


def _masked(found: re.Match[str]) -> str:
    before = found["scheme"] or found["slashes"] or ""
    return f"{before}{MASK}{found['at'] or ''}"


def names_a_secret(name: str) -> bool:
    """Whether a field or header with this name usually carries a secret (`api_key`, `X-Token`)."""
    return _SECRET_NAME.search(name) is not None
