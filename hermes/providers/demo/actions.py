"""From a matched phrase to a move. Each function takes what the phrase caught."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from hermes.providers.demo import answers
from hermes.providers.demo.commands import is_asked_about, is_harmless
from hermes.providers.demo.conversation import Conversation
from hermes.providers.demo.instances import instance_of
from hermes.providers.demo.moves import Move, Say, Use
from hermes.providers.demo.reports import knows

IS = r"(?:\s+is|'s|\u2019s|\s+was)"
"""The verb of a statement or question, also when it is glued to the word before."""


def use_by_name(match: re.Match[str], conversation: Conversation) -> Move | None:
    """For tools the client brought along; the server's own have phrases of their own."""
    tool = match["tool"]
    if tool not in conversation.tools or knows(tool):
        return None
    return Use(tool, arguments_for(conversation.tools[tool], _first(match, "given")))


def arguments_for(schema: Mapping[str, Any], given: str = "") -> dict[str, Any]:
    """What the schema requires, and what the user gave as a JSON object."""
    made_up = instance_of(schema)
    try:
        chosen = json.loads(given or "{}")
    except json.JSONDecodeError:
        chosen = {}
    return {**(made_up if isinstance(made_up, dict) else {}), **chosen}


def write(match: re.Match[str], _: Conversation) -> Move:
    content = _unquoted(_first(match, "content"))
    ending = "\n" if content and not content.endswith("\n") else ""
    path = _unquoted(match["path"])
    return Use("write_file", {"path": path, "content": content + ending})


def replace(match: re.Match[str], _: Conversation) -> Move:
    arguments = {
        "path": _unquoted(match["path"]),
        "old_text": _unquoted(match["old"]),
        "new_text": _unquoted(match["new"]),
    }
    return Use("patch_file", arguments)


def run(match: re.Match[str], _: Conversation) -> Move:
    return _command(match["command"].strip())


def _command(command: str) -> Move:
    if not (is_harmless(command) or is_asked_about(command)):
        return Say(answers.declined_command(command))
    return Use("terminal", {"command": command})


def delete(match: re.Match[str], _: Conversation) -> Move:
    return _command(f"rm -r {_first(match, 'folder', 'other_folder')}")


def list_folder(match: re.Match[str], _: Conversation) -> Move:
    return Use("list_files", {"path": _first(match, "folder", "other_folder") or "."})


def read(match: re.Match[str], _: Conversation) -> Move:
    path = _unquoted(_first(match, "path", "other_path"))
    return Use("list_files" if path.endswith("/") else "read_file", {"path": path})


def search(match: re.Match[str], _: Conversation) -> Move:
    pattern = _as_regex(_unquoted(match["term"]))
    path = _unquoted(_first(match, "path")) or "."
    return Use("search_files", {"pattern": pattern, "path": path})


def recall_all(_: re.Match[str], conversation: Conversation) -> Move:
    return Say(answers.said_before(conversation.earlier))


def recall_one(match: re.Match[str], conversation: Conversation) -> Move:
    which = match["which"].lower()
    at = 0 if which == "first" else -1
    text = conversation.earlier[at] if conversation.earlier else None
    return Say(answers.said_once(which, text))


def note(match: re.Match[str], _: Conversation) -> Move:
    return Say(answers.noted(match["fact"].strip(" .!")))


def recall_fact(match: re.Match[str], conversation: Conversation) -> Move:
    thing = " ".join((_first(match, "thing") or "name").lower().split())
    told = _told(thing)
    found = [match["value"] for text in conversation.earlier for match in told.finditer(text)]
    return Say(answers.recalled(thing, found[-1] if found else None))


def _told(thing: str) -> re.Pattern[str]:
    """How a user states a fact such as "my name is Ada"."""
    words = r"\s+".join(re.escape(word) for word in thing.split())
    other = r"|\bcall\s+me|\bi\s+am\s+called" if thing == "name" else ""
    pattern = rf"(?:\bmy\s+{words}{IS}{other})\s+(?P<value>[^.!?\n]+)"
    return re.compile(pattern, re.IGNORECASE)


def count(match: re.Match[str], _: Conversation) -> Move:
    down = match["down"] is not None
    first = int(match["first"] or (10 if down else 1))
    last = int(match["last"] or (0 if down else 10))
    return Say(answers.counted(first, last))


def name_tools(_: re.Match[str], conversation: Conversation) -> Move:
    return Say(answers.tool_names(conversation.tools))


def _first(match: re.Match[str], *names: str) -> str:
    """The first of these groups that caught something; a phrase need not have all of them."""
    caught = match.groupdict()
    return next((caught[name] for name in names if caught.get(name)), "")


def _unquoted(text: str) -> str:
    text = text.strip()
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "`'\""
    return text[1:-1] if is_quoted else text


def _as_regex(text: str) -> str:
    """Escapes only what is special in every regex dialect; some refuse needless escapes."""
    return re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", text)


def says(text: str) -> Callable[[re.Match[str], Conversation], Move]:
    return lambda _match, _conversation: Say(text)


def runs(command: str) -> Callable[[re.Match[str], Conversation], Move]:
    return lambda _match, _conversation: _command(command)
