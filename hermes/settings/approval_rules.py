"""The list `approvals.rules` of config.yaml: what is done about which calls of which key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType

from hermes.core.errors import SettingsError
from hermes.settings import kinds
from hermes.settings.config_yaml import PREFIX, ConfigFile
from hermes.settings.kinds import Kind, read_as
from hermes.settings.model import ApprovalRule, NamedKey
from hermes.settings.named_keys import MAIN, NOBODY
from hermes.settings.words import NOTHING, Words, kind_of

RULES = "approvals.rules"

FIELDS: Mapping[str, Kind] = MappingProxyType(
    {
        "tool": kinds.LINE,
        "pattern": kinds.LINE,
        "key": kinds.LINE,
        "action": kinds.one_of("allow", "ask", "deny"),
    }
)
"""What may be said of a rule. Only `action` must be."""


def read_rules(config: ConfigFile) -> tuple[ApprovalRule, ...]:
    """The rules in the order of the file; the layer of the file has checked that it is a list."""
    found = config.value(RULES) or []
    return tuple(_rule(said, f"{PREFIX}{RULES}[{place}]") for place, said in enumerate(found, 1))


def rules_for_nobody(rules: Iterable[ApprovalRule], keys: Iterable[NamedKey]) -> tuple[str, ...]:
    """A warning for each rule whose key nobody can have."""
    names = [MAIN, NOBODY, *(named.name for named in keys)]
    return tuple(
        f"{PREFIX}{RULES}[{place}] is about a key that does not exist; known are: "
        + ", ".join(names)
        for place, rule in enumerate(rules, 1)
        if not any(fnmatchcase(name, rule.key) for name in names)
    )


def _rule(said: object, source: str) -> ApprovalRule:
    if not isinstance(said, Mapping):
        raise SettingsError(source, kind_of(said), "a section with " + ", ".join(FIELDS))
    values = {}
    for field, value in said.items():
        if field not in FIELDS:
            raise SettingsError(f"{source}.{field}", Words("an unknown key"), ", ".join(FIELDS))
        if value is not None and value != "":
            values[field] = read_as(FIELDS[field], value, key=f"{source}.{field}")
    if "action" not in values:
        raise SettingsError(f"{source}.action", NOTHING, FIELDS["action"].allowed)
    return ApprovalRule(**values)
