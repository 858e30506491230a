"""Kinds of values: what a setting accepts, in words for the user and as a function that reads it.

A reader takes what the command line, the environment or YAML gave, and raises ValueError when that
is not allowed; `read_as` turns the refusal into an error that names the setting.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hermes.core.errors import SettingsError
from hermes.core.runs import Disconnect
from hermes.settings.redaction import mask
from hermes.settings.words import SECRET, kind_of

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOOLSET = re.compile(r"[A-Za-z0-9_.:-]+")
_YES = ("true", "yes", "on", "1")
_NO = ("false", "no", "off", "0")


@dataclass(frozen=True, slots=True)
class Kind:
    """`read` is typed loosely: values of every type pass through the one table of options."""

    allowed: str
    read: Callable[[object], Any]
    is_secret: bool = False


def read_as(kind: Kind, value: object, *, key: str) -> Any:
    """The value as the kind reads it, or a SettingsError that names `key` and shows no secret."""
    try:
        return kind.read(value)
    except ValueError:
        # Without its cause: the cause may quote the value.
        raise SettingsError(key, _shown(value, kind), kind.allowed) from None


def _shown(value: object, kind: Kind) -> object:
    if kind.is_secret:
        return SECRET
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, bool | int | float):
        return value
    return kind_of(value)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def _line(value: object) -> str:
    text = _text(value)
    if _CONTROL.search(text):
        raise ValueError
    return text


def _matching(pattern: re.Pattern[str], value: object) -> str:
    text = _line(value)
    if not pattern.fullmatch(text):
        raise ValueError
    return text


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    return float(value)


def _whole(value: object) -> int:
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError
    return value


def _yes_or_no(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = _line(value).lower()
    if word not in _YES + _NO:
        raise ValueError
    return word in _YES


def _parts(value: object) -> list[object]:
    """A YAML list, or text separated by commas as environment variables have it."""
    if isinstance(value, str):
        return [part for part in value.split(",") if part.strip()]
    if isinstance(value, list | tuple):
        return list(value)
    raise ValueError


def _origin(value: object) -> str:
    origin = _line(value).rstrip("/")
    if origin in ("*", "null"):
        return origin
    scheme, separator, host = origin.partition("://")
    if not (scheme and separator and host) or "/" in host:
        raise ValueError
    return origin


def _place(value: object) -> str:
    place = Path(_line(value)).expanduser()
    if not place.is_absolute():
        raise ValueError
    return str(place)


def _url(value: object) -> str:
    url = _line(value).rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError
    _ = parts.port  # raises ValueError when it is not a number
    return url


def _headers(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError
    return {_matching(_HEADER_NAME, name): _line(text) for name, text in value.items()}


def _values(value: object) -> dict[str, str]:
    """Environment variables with their values; YAML may take one for a number."""
    if not isinstance(value, Mapping):
        raise ValueError
    return {_matching(_VARIABLE, name): _scalar(text) for name, text in value.items()}


def _scalar(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    text = str(value)
    if "\0" in text:
        raise ValueError
    return text


def _header_holders(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError
    return {
        _matching(_HEADER_NAME, name): _matching(_VARIABLE, holder)
        for name, holder in value.items()
    }


def _arguments(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError
    return tuple(_scalar(part) for part in value)


def _command(value: object) -> tuple[str, ...]:
    words = tuple(shlex.split(_line(value))) if isinstance(value, str) else _arguments(value)
    if not words or not words[0].strip():
        raise ValueError
    return words


def _section(value: object) -> Mapping[object, object]:
    if not isinstance(value, Mapping):
        raise ValueError
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list | tuple):
        raise ValueError
    return list(value)


def _list_of(read: Callable[[object], str]) -> Callable[[object], tuple[str, ...]]:
    # Through a dict, which drops repetitions and keeps the order.
    return lambda value: tuple(dict.fromkeys(read(part) for part in _parts(value)))


def _some_of(read: Callable[[object], str]) -> Callable[[object], tuple[str, ...]]:
    def read_some(value: object) -> tuple[str, ...]:
        found = _list_of(read)(value)
        if not found:
            raise ValueError
        return found

    return read_some


def whole_number(least: int, most: int) -> Kind:
    def read(value: object) -> int:
        number = _whole(value)
        if not least <= number <= most:
            raise ValueError
        return number

    return Kind(f"a whole number from {least} to {most}", read)


def seconds(least: float, most: float) -> Kind:
    def read(value: object) -> float:
        number = _number(value)
        # NaN fails every comparison, so it is refused here too.
        if not least <= number <= most:
            raise ValueError
        return number

    return Kind(f"a number of seconds from {least:g} to {most:g}", read)


def share(least: float, most: float) -> Kind:
    """A part of something."""
    numbers = seconds(least, most)
    return Kind(f"a number from {least:g} to {most:g}", numbers.read)


def amount(least: float, most: float) -> Kind:
    """Money."""
    return Kind(f"a number from {least:g} to {most:g}", seconds(least, most).read)


def one_of(*names: str) -> Kind:
    def read(value: object) -> str:
        word = _line(value).lower()
        for name in names:
            if name.lower() == word:
                return name
        raise ValueError

    return Kind("one of " + ", ".join(names), read)


def member_of(choices: type[Enum]) -> Kind:
    """One of an enum's values; read into the enum."""
    names = one_of(*(str(choice.value) for choice in choices))
    return Kind(names.allowed, lambda value: choices(names.read(value)))


LINE = Kind("text on one line (in quotes if YAML takes it for something else)", _line)
PROSE = Kind("text", _text)
KEY = Kind("text on one line, in quotes", _line, is_secret=True)
KEYS = Kind("a list of keys, in quotes", _some_of(_line), is_secret=True)
YES_OR_NO = Kind("true or false", _yes_or_no)
SECTION = Kind("a section with a name for each", _section, is_secret=True)
LIST = Kind("a list of sections", _list)
SECTIONS = Kind("a list of sections", _list, is_secret=True)
DISCONNECT = Kind(
    "cancel, detach, or grace:<seconds> such as grace:30",
    lambda value: Disconnect.parse(_line(value)),
)
URL = Kind("a URL such as https://api.example.com/v1, without user name or password", _url)
HEADERS = Kind("a section of header names with text values", _headers, is_secret=True)
HEADER_HOLDERS = Kind(
    "a section of header names with the variables that hold their values",
    _header_holders,
    is_secret=True,
)
VALUES = Kind("a section of variable names with text values", _values, is_secret=True)
ARGUMENTS = Kind("a list of texts", _arguments, is_secret=True)
COMMAND = Kind("a command line, as text or as a list of its words", _command, is_secret=True)
PATTERNS = Kind(
    "names or patterns such as read_*, as a list or separated by commas", _list_of(_line)
)
FOLDER = Kind("the path of a folder", lambda value: Path(_line(value)).expanduser())
PLACES = Kind("absolute paths, as a list or separated by commas", _list_of(_place))
ORIGINS = Kind(
    "origins such as http://localhost:3000, as a list or separated by commas", _list_of(_origin)
)
TOOLSETS = Kind(
    "names of toolsets, as a list or separated by commas",
    _list_of(lambda value: _matching(_TOOLSET, value)),
)
VARIABLES = Kind(
    "names of environment variables, as a list or separated by commas",
    _list_of(lambda value: _matching(_VARIABLE, value)),
)
# Secret, because a key pasted in place of the variable's name must not appear in the error.
VARIABLE = Kind(
    "the name of an environment variable (not the key itself)",
    lambda value: _matching(_VARIABLE, value),
    is_secret=True,
)
KEY_VARIABLES = Kind(
    "a list of names of environment variables (not the keys themselves)",
    _some_of(lambda value: _matching(_VARIABLE, value)),
    is_secret=True,
)
