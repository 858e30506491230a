"""The words of messages and titles in an FTS5 index, kept in the transactions that change them.

A row of the index has the number of its message; those of titles come behind all of these. Where
SQLite has no FTS5, that is noted, and made good when one opens the file that has it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from hermes.core.messages import Content, text_of
from hermes.core.sessions import SearchHit, SearchPage
from hermes.store.encoding import bind, from_json, from_stored, plain, to_json
from hermes.store.search_query import match_expression

MOST_HITS = 10_000
"""So many of the latest hits are compared; with more than that, nobody counts them."""

_TITLES = 2**62
"""Where the rows of titles begin; of more hits than are compared, titles are the first."""
_ROLES = ("user", "assistant", "tool")
_LONGEST = 100_000
"""How many characters of a message can be found."""
_SNIPPET_WORDS = 24
_OPEN, _CLOSE = "\x02", "\x03"
_UNMARKED = str.maketrans("", "", _OPEN + _CLOSE + "\x00")

_CREATE = (
    "CREATE VIRTUAL TABLE search USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')"
)
_HAS_FTS5 = "SELECT count(*) FROM pragma_module_list WHERE name = 'fts5'"
_INSERT = "INSERT INTO search (rowid, text) VALUES (?, ?)"
_MATCHING = """
    SELECT rowid, rank FROM search WHERE search MATCH :match ORDER BY rowid DESC LIMIT :most
"""
# One look for all of them, because looking for the beginning of a word can take long: without the
# plus sign SQLite would look once for each.
_SNIPPETS = """
    SELECT rowid, snippet(search, 0, :open, :close, '…', :words) AS marked FROM search
    WHERE search MATCH :match AND rowid BETWEEN :first AND :last
    AND +rowid IN (SELECT value FROM json_each(:rows))
"""
_MESSAGE = """
    SELECT session_id, coalesce(title, auto_title) AS title,
        messages.id AS message_id, role, timestamp
    FROM messages JOIN sessions ON sessions.id = session_id WHERE messages.id = :row
"""
_TITLE = """
    SELECT id AS session_id, title, NULL AS message_id, NULL AS role, updated_at AS timestamp
    FROM sessions WHERE number = :row
"""


def has_fts5(connection: sqlite3.Connection) -> bool:
    [(count,)] = connection.execute(_HAS_FTS5).fetchall()
    return bool(count)


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether the index has everything."""
    [(current,)] = connection.execute("SELECT is_current FROM search_state").fetchall()
    return bool(current)


def make_anew(connection: sqlite3.Connection) -> None:
    """Put everything into a new index, unless another process has just done that."""
    if is_current(connection):
        return
    connection.execute("DROP TABLE IF EXISTS search")
    connection.execute(_CREATE)
    connection.executemany(_INSERT, _everything(connection))
    connection.execute("UPDATE search_state SET is_current = 1")


def note_gap(connection: sqlite3.Connection) -> None:
    """From now on the file changes without its index."""
    connection.execute("UPDATE search_state SET is_current = 0")


def add_message(
    connection: sqlite3.Connection, message_id: int, role: str, content: Content | None
) -> None:
    words = _words(text_of(content)) if role in _ROLES else ""
    if words:
        connection.execute(_INSERT, (message_id, words))


def set_title(connection: sqlite3.Connection, session_id: str) -> None:
    """Have the title found that the session has now."""
    found = connection.execute(
        "SELECT number, title FROM sessions WHERE id = :id", bind(id=session_id)
    ).fetchone()
    if found is None:
        return
    row = _TITLES + found["number"]
    connection.execute("DELETE FROM search WHERE rowid = ?", (row,))
    if found["title"]:
        connection.execute(_INSERT, (row, _words(from_stored(found["title"]))))


def forget_session(connection: sqlite3.Connection, session_id: str) -> None:
    """Before its rows are deleted: they say what has to be forgotten."""
    # Two statements: with OR, SQLite would look at the whole index.
    connection.execute(
        "DELETE FROM search WHERE rowid IN (SELECT id FROM messages WHERE session_id = :id)",
        bind(id=session_id),
    )
    connection.execute(
        "DELETE FROM search WHERE rowid IN (SELECT :titles + number FROM sessions WHERE id = :id)",
        bind(id=session_id, titles=_TITLES),
    )


def drop_leftovers(connection: sqlite3.Connection) -> None:
    """Deleted words stay in an index until its parts are merged."""
    connection.execute("INSERT INTO search (search) VALUES ('optimize')")


def search(connection: sqlite3.Connection, typed: str, *, limit: int, offset: int) -> SearchPage:
    """The best of the latest hits. Costs what the hits cost, not what there is."""
    match = match_expression(typed)
    if match is None:
        return SearchPage(hits=[], total=0, has_more=False)
    matching = connection.execute(_MATCHING, {"match": match, "most": MOST_HITS + 1}).fetchall()
    found = sorted(((row["rowid"], row["rank"]) for row in matching), key=itemgetter(1))
    page = found[offset : offset + limit]
    marked = _snippets(connection, match, [row for row, _ in page])
    return SearchPage(
        hits=[_hit(connection, row, rank, marked[row]) for row, rank in page],
        total=None if len(found) > MOST_HITS else len(found),
        has_more=offset + len(page) < len(found),
    )


def _snippets(connection: sqlite3.Connection, match: str, rows: Sequence[int]) -> dict[int, str]:
    if not rows:
        return {}
    found = connection.execute(
        _SNIPPETS,
        {
            "match": match,
            "rows": to_json(list(rows)),
            "first": min(rows),
            "last": max(rows),
            "open": _OPEN,
            "close": _CLOSE,
            "words": _SNIPPET_WORDS,
        },
    ).fetchall()
    return {row["rowid"]: row["marked"] for row in found}


def _hit(connection: sqlite3.Connection, row: int, rank: float, marked: str) -> SearchHit:
    is_title = row > _TITLES
    statement, number = (_TITLE, row - _TITLES) if is_title else (_MESSAGE, row)
    about = plain(connection.execute(statement, {"row": number}).fetchone())
    snippet, highlights = _without_marks(marked)
    return SearchHit(**about, snippet=snippet, highlights=highlights, score=round(-rank, 6))


def _without_marks(marked: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text, and where its marks were."""
    pieces: list[str] = []
    highlights: list[tuple[int, int]] = []
    length = 0
    for at, part in enumerate(marked.split(_OPEN)):
        hit, _, rest = part.partition(_CLOSE) if at else ("", "", part)
        if at:
            highlights.append((length, length + len(hit)))
        pieces += [hit, rest]
        length += len(hit) + len(rest)
    return "".join(pieces), tuple(highlights)


def _everything(connection: sqlite3.Connection) -> Iterator[tuple[int, str]]:
    rows: Iterable[sqlite3.Row] = connection.execute("SELECT id, role, content FROM messages")
    for row in rows:
        words = _words(text_of(from_json(row["content"]))) if row["role"] in _ROLES else ""
        if words:
            yield row["id"], words
    for row in connection.execute("SELECT number, title FROM sessions WHERE title <> ''"):
        yield _TITLES + row["number"], _words(from_stored(row["title"]))


def _words(text: str) -> str:
    """As much as is indexed, in characters that the index can hold and marks can stand in."""
    return text[:_LONGEST].translate(_UNMARKED).encode(errors="replace").decode().strip()
