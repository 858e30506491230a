"""Reads config.yaml and refuses keys nobody knows. What the values mean is not its business."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from hermes.core.errors import SettingsError
from hermes.settings.model import NOTHING_SET
from hermes.settings.options import OPTIONS
from hermes.settings.redaction import mask
from hermes.settings.words import Words, kind_of

PREFIX = "config.yaml: "
"""How errors and sources name a key of the file."""

MODELS = "models"
"""The one section whose keys the user makes up; `hermes.settings.aliases` reads it."""

_QUOTED = re.compile(r"(['\"]).{4,}\1")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    path: Path
    content: Mapping[str, Any] = field(default_factory=lambda: NOTHING_SET)
    is_private: bool = True
    """False when users other than the owner may read it."""

    def value(self, key: str) -> Any:
        """What stands at a dotted key; None when nothing does. Sections must have been checked."""
        found: Any = self.content
        for part in key.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
        return found


def read_config(path: Path) -> ConfigFile:
    """The parsed file; one that does not exist counts as empty."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read()
    except FileNotFoundError:
        return ConfigFile(path=path)
    except OSError as error:
        raise SettingsError(
            str(path), Words(f"no way to read it ({error.strerror})"), "a readable file"
        ) from None
    return ConfigFile(path=path, content=_parse(data, path), is_private=mode & 0o077 == 0)


def check_keys(content: Mapping[str, Any]) -> None:
    """Refuse what no option is called, with the closest name that one is."""
    known = {option.config for option in OPTIONS.values() if option.config}
    sections = {section for key in known for section in _sections_above(key)}
    fixed = {name: value for name, value in content.items() if name != MODELS}
    for key, value in _walk(fixed, known):
        if key in sections:
            if value is not None and not isinstance(value, Mapping):
                raise SettingsError(PREFIX + key, kind_of(value), _members(key, known))
        elif key not in known:
            raise SettingsError(PREFIX + mask(key), Words("an unknown key"), _advice(key, known))


def _walk(content: Mapping[Any, Any], leaves: set[str], above: str = "") -> Iterator[Any]:
    for name, value in content.items():
        key = f"{above}{name}"
        yield key, value
        if isinstance(value, Mapping) and key not in leaves:
            yield from _walk(value, leaves, f"{key}.")


def _sections_above(key: str) -> list[str]:
    parts = key.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def _members(section: str, known: set[str]) -> str:
    start = f"{section}."
    inside = sorted(key.removeprefix(start) for key in known if key.startswith(start))
    return "a section with " + ", ".join(inside)


def _advice(key: str, known: set[str]) -> str:
    """The closest known key: by its full name, else by its last part in whatever section."""
    by_last_part = {name.rpartition(".")[2]: name for name in sorted(known, reverse=True)}
    close = get_close_matches(key, known, n=1, cutoff=0.7)
    if not close:
        last_part = get_close_matches(key.rpartition(".")[2], by_last_part, n=1, cutoff=0.7)
        close = [by_last_part[name] for name in last_part]
    if close:
        return f"the documented keys; did you mean {close[0]}?"
    return "the documented keys: " + ", ".join(sorted(known))


def _parse(data: bytes, path: Path) -> Mapping[str, Any]:
    try:
        # A SafeLoader all the same: the subclass below only adds a check.
        content = yaml.load(data.decode("utf-8-sig"), Loader=_StrictLoader)  # noqa: S506
    except yaml.YAMLError as error:
        raise _not_yaml(error, path) from None
    except (ValueError, RecursionError):
        # Bytes that are not UTF-8, a date that does not exist, nesting without end.
        raise SettingsError(str(path), Words("something unreadable"), "YAML in UTF-8") from None
    if content is None:
        return NOTHING_SET
    if not isinstance(content, dict):
        raise SettingsError(str(path), kind_of(content), "a mapping such as `model: my-model`")
    return content


def _not_yaml(error: yaml.YAMLError, path: Path) -> SettingsError:
    mark = getattr(error, "problem_mark", None)
    where = f"{path}, line {mark.line + 1}" if mark else str(path)
    problem = getattr(error, "problem", None) or "a syntax error"
    # The parser quotes the file, and what it quotes may be a key.
    return SettingsError(where, Words(_QUOTED.sub("something", problem)), "valid YAML")


class _StrictLoader(yaml.SafeLoader):
    """Refuses a key that stands twice in one section: YAML would silently take the last."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        # While composing, before merges (`<<`) add keys that may be overridden on purpose.
        node = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.MarkedYAMLError(problem="a key twice", problem_mark=key.start_mark)
                seen.add(key.value)
        return node
