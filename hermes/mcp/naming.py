"""Names for the tools of servers: unique, and such that every provider takes them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

LONGEST_NAME = 64
_UNFIT = re.compile(r"[^a-zA-Z0-9_-]")
_MARK = 8


def tool_names(server: str, names: Iterable[str]) -> dict[str, str]:
    """`mcp_<server>_<tool>` for each name; one that is cut or taken gets a mark of its own.

    A server's name has no underscore, so two servers never share a name.
    """
    taken: set[str] = set()
    made: dict[str, str] = {}
    for name in dict.fromkeys(names):
        wanted = f"mcp_{server}_{_UNFIT.sub('_', name)}"
        made[name] = wanted if _is_free(wanted, taken) else _marked(wanted, name)
        taken.add(made[name])
    return made


def _is_free(wanted: str, taken: set[str]) -> bool:
    return len(wanted) <= LONGEST_NAME and wanted not in taken


def _marked(wanted: str, name: str) -> str:
    mark = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:_MARK]
    return f"{wanted[: LONGEST_NAME - _MARK - 1]}_{mark}"
