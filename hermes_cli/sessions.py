"""`hermes sessions`: the stored conversations. Needs no valid config.yaml and no running server."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import click

from hermes.core.errors import HermesError
from hermes.core.ids import new_id
from hermes.settings.paths import home, state_db
from hermes.wire.session_transfer import export_document, export_text
from hermes_cli.terminal_hits import NOTHING_FOUND, hit_lines
from hermes_cli.terminal_sessions import find_session, stored_sessions, title_of
from hermes_cli.terminal_style import accept_any_text, readable, style_for
from hermes_cli.terminal_times import moment_text, now_here
from hermes_cli.terminal_transcript import transcript
from hermes_cli.terminal_transfer import read_document, save_document
from hermes_state import SessionDB

_SHORTEST_TITLE = 20
_LONGEST_TITLE = 200
_HEADINGS = ("ID", "UPDATED", "MESSAGES", "SOURCE", "TITLE")


@click.group()
def sessions() -> None:
    """Look at the stored conversations, search, move and delete them.

    An id may be shortened, as long as only one session's id begins like that.
    """
    accept_any_text(sys.stdout, sys.stderr)


@sessions.command("list")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="How many to show, the latest first.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array instead of a table.")
def list_sessions(limit: int, as_json: bool) -> None:
    """List the conversations, the latest first."""
    with stored_sessions(home(os.environ)) as store:
        found = [] if store is None else _described(store, limit)
        count = 0 if store is None else store.count_sessions()
    if as_json:
        click.echo(_json(found))
    elif found:
        click.echo(_table([_row(session) for session in found]))
        if count > len(found):
            click.echo(f"{count - len(found)} more; --limit {count} shows all.", err=True)
    else:
        click.echo("No sessions yet. `hermes chat` begins one.")


@sessions.command()
@click.argument("session_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print everything that is stored, as JSON.")
def show(session_id: str, as_json: bool) -> None:
    """Print a conversation, with the tools that were used."""
    with stored_sessions(home(os.environ)) as store:
        found = find_session(store, session_id)
        assert store is not None, "a session was found in it"
        session, messages = store.get_session(found), store.get_messages(found)
    if session is None:
        raise HermesError(f"Session {found!r} was deleted just now.")
    if as_json:
        click.echo(_json({**session, "messages": messages}))
        return
    style = style_for(os.environ, sys.stdout)
    click.echo("\n".join(transcript(session, messages, style, now_here())), color=True)


@sessions.command()
@click.argument("words", metavar="QUERY...", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How many hits to show, the best first.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def search(words: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Find what was said.

    All words must be there; "words in quotes" must stand together; a star stands for the rest of a
    word.
    """
    with stored_sessions(home(os.environ)) as store:
        page = (
            NOTHING_FOUND if store is None else store.search(" ".join(words), limit=limit, offset=0)
        )
    if page is None:
        raise HermesError(
            "Sessions cannot be searched: this Python's SQLite has no FTS5; use another Python."
        )
    if as_json:
        click.echo(_json([asdict(hit) for hit in page.hits]))
        return
    style = style_for(os.environ, sys.stdout)
    for hit in page.hits:
        click.echo("\n".join(hit_lines(hit, style, now_here())), color=True)
    if not page.hits:
        click.echo("Nothing found.", err=True)
    elif page.has_more:
        click.echo(f"There are more; --limit {limit * 2} shows more.", err=True)


@sessions.command("export")
@click.argument("session_id", metavar="ID")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A new file, instead of standard output.",
)
def export_session(session_id: str, output: Path | None) -> None:
    """Print a conversation as a JSON document that `import` reads."""
    with stored_sessions(home(os.environ)) as store:
        found = find_session(store, session_id)
        assert store is not None, "a session was found in it"
        session, messages = store.get_session(found), store.get_messages(found)
    if session is None:
        raise HermesError(f"Session {found!r} was deleted just now.")
    document = export_text(export_document(session, messages))
    if output is None:
        click.echo(document)
    else:
        save_document(output, document)
        click.echo(f"Saved as {output}.", err=True)


@sessions.command("import")
@click.argument("file", type=click.File("rb"), metavar="FILE")
@click.option("--keep-id", is_flag=True, help="Keep the id it had; an error if that is taken.")
def import_session(file: BinaryIO, keep_id: bool) -> None:
    """Bring in a conversation that was exported; - reads standard input."""
    old_id, head, messages = read_document(file.read())
    session_id = old_id if keep_id else new_id("session-")
    store = SessionDB(state_db(home(os.environ)))
    try:
        is_kept = store.import_session(session_id, head, messages)
    finally:
        store.close()
    if not is_kept:
        raise HermesError(f"There is a session {session_id!r} already; leave out --keep-id.")
    click.echo(f"Imported as {readable(session_id)}.")


@sessions.command()
@click.argument("session_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
def rm(session_ids: tuple[str, ...], yes: bool) -> None:
    """Delete conversations, with all their messages."""
    with stored_sessions(home(os.environ)) as store:
        found, problems = _find_all(store, session_ids)
        if found and store is not None and (yes or _confirms(store, found)):
            _delete(store, found)
    if problems:
        raise HermesError("\n".join(problems))


def _find_all(store: SessionDB | None, wanted: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The ids that were found, each once, and what is wrong with the other words."""
    found: dict[str, None] = {}
    problems = []
    for word in wanted:
        try:
            found[find_session(store, word)] = None
        except HermesError as problem:
            problems.append(str(problem))
    return list(found), problems


def _delete(store: SessionDB, ids: list[str]) -> None:
    store.delete_sessions(ids)
    for session_id in ids:
        click.echo(f"Deleted {readable(session_id)}.")


def _confirms(store: SessionDB, ids: list[str]) -> bool:
    for session_id in ids:
        session = store.get_session(session_id)
        if session is not None:
            title = title_of(session, 60)
            click.echo(readable(f"  {session_id}  {title}"), err=True)
    noun = "this session" if len(ids) == 1 else f"these {len(ids)} sessions"
    return click.confirm(f"Delete {noun} for good?", err=True)


def _described(store: SessionDB, limit: int) -> list[dict[str, Any]]:
    return [
        {**session, "preview": title_of(session, _LONGEST_TITLE)}
        for session in store.list_sessions(limit=limit, offset=0)
    ]


def _row(session: dict[str, Any]) -> tuple[str, ...]:
    cells = (
        session["id"],
        moment_text(session["updated_at"], now_here()),
        str(session["message_count"]),
        session["source"],
        session["preview"],
    )
    return tuple(readable(cell) for cell in cells)


def _table(rows: list[tuple[str, ...]]) -> str:
    """Columns as wide as they need; the title comes last and takes the rest of the line."""
    lines = [_HEADINGS, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS) - 1)]
    room = shutil.get_terminal_size().columns - sum(widths) - 2 * len(widths)
    return "\n".join(_line(line, widths, max(room, _SHORTEST_TITLE)) for line in lines)


def _line(cells: tuple[str, ...], widths: list[int], room: int) -> str:
    title = cells[-1] if len(cells[-1]) <= room else cells[-1][: room - 1] + "…"
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
    return "  ".join([*padded, title]).rstrip()


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
