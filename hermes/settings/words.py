"""Words that stand in an error where a value would: described instead of shown."""

from __future__ import annotations


class Words(str):
    """Text that reads the same quoted and unquoted, so that it is not taken for a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


NOTHING = Words("nothing")
SECRET = Words("a secret value")


def kind_of(value: object) -> Words:
    """What sort of thing a parsed YAML value is, in the user's words."""
    if isinstance(value, dict):
        return Words("a section")
    if isinstance(value, list | tuple):
        return Words("a list")
    return Words(f"a value of type {type(value).__name__}")
