"""Hits of a search as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from hermes.core.sessions import SearchHit, SearchPage
from hermes.tools.output import one_line
from hermes_cli.terminal_style import Style, readable
from hermes_cli.terminal_times import moment_text

NOTHING_FOUND = SearchPage(hits=[], total=0, has_more=False)
_LONGEST_TITLE = 60


def hit_lines(hit: SearchHit, style: Style, now: datetime) -> Iterator[str]:
    """Where it was found, then the words around it; those that were looked for stand out."""
    title = readable(one_line(hit.title or "", _LONGEST_TITLE))
    where = f"{hit.role or 'title'}, {moment_text(hit.timestamp, now)}"
    yield f"{style.bold(readable(hit.session_id))}  {title}  {style.dim(where)}"
    yield f"  {_marked(hit, style)}"


def _marked(hit: SearchHit, style: Style) -> str:
    pieces: list[str] = []
    done = 0
    for begin, end in hit.highlights:
        pieces += [_plain(hit.snippet[done:begin]), style.yellow(_plain(hit.snippet[begin:end]))]
        done = end
    return "".join([*pieces, _plain(hit.snippet[done:])])


def _plain(text: str) -> str:
    return readable(text.replace("\n", " ").replace("\t", " "))
