"""The table of documented settings is complete, true, and really read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path

from hermes.settings.documented import DOCUMENTED
from hermes.settings.gateway_config import gateway_config
from hermes.settings.known_providers import KNOWN
from hermes.settings.loading import load_settings
from hermes.settings.model import (
    AgentSettings,
    ApprovalSettings,
    ListenerSettings,
    LogSettings,
    ProviderSettings,
    RunSettings,
)
from hermes.settings.options import HOLDERS, OPTIONS


class Witness(Mapping[str, str]):
    """An environment that remembers which variables were asked for."""

    def __init__(self, variables: dict[str, str]) -> None:
        self._variables = variables
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


def test_every_documented_variable_is_really_read(environ: dict[str, str]) -> None:
    asked: set[str] = set()
    for provider in ("", "anthropic"):
        witness = Witness(environ | {"HERMES_PROVIDER": provider, "ANTHROPIC_API_KEY": "k"})
        load_settings(environ=witness)
        gateway_config(witness)
        asked |= witness.asked
    bare = Witness(environ)
    load_settings(environ=bare)
    documented = {doc.env for doc in DOCUMENTED if doc.env}
    assert documented - (asked | bare.asked) == set()


def test_no_other_variable_is_read(environ: dict[str, str]) -> None:
    witness = Witness(environ)
    load_settings(environ=witness)
    gateway_config(witness)
    assert witness.asked - {doc.env for doc in DOCUMENTED} == {"HOME"}


def test_every_name_appears_once() -> None:
    keys = [doc.config_key for doc in DOCUMENTED if doc.config_key]
    variables = [doc.env for doc in DOCUMENTED if doc.env]
    assert len(keys) == len(set(keys))
    assert len(variables) == len(set(variables))
    assert all(doc.config_key or doc.env for doc in DOCUMENTED)


def test_every_variable_of_a_provider_is_documented() -> None:
    variables = {doc.env for doc in DOCUMENTED}
    for known in KNOWN.values():
        assert {known.key_variable, known.base_url_variable} - {""} <= variables


def test_every_sentence_is_one() -> None:
    for doc in DOCUMENTED:
        assert doc.sentence.endswith(".")
        assert doc.default


def test_every_field_of_the_settings_has_an_option() -> None:
    names = set(OPTIONS) - set(HOLDERS)
    for section, kind in (
        ("listener", ListenerSettings),
        ("runs", RunSettings),
        ("approvals", ApprovalSettings),
        ("log", LogSettings),
    ):
        assert {f"{section}.{field.name}" for field in dataclasses.fields(kind)} == {
            name for name in names if name.startswith(f"{section}.")
        }
    fields = {*dataclasses.fields(AgentSettings), *dataclasses.fields(ProviderSettings)}
    agent = {f"agent.{field.name}" for field in fields} - {"agent.fallbacks"}
    # Read by the door `hermes_cli.tools_config` from the parsed file.
    agent.add("agent.api_server_toolsets")
    assert agent == {name for name in names if name.startswith("agent.")}


def test_documented_defaults_are_the_real_ones(tmp_path: Path) -> None:
    agent = AgentSettings(
        provider=ProviderSettings(provider="demo", model="demo"), workspace=tmp_path
    )
    real = {
        "listener": ListenerSettings(),
        "agent": agent,
        "runs": RunSettings(),
        "approvals": ApprovalSettings(),
        "log": LogSettings(),
    }
    provider = agent.provider
    for name, option in OPTIONS.items():
        section, _, field = name.partition(".")
        value = getattr(real.get(section), field, None)
        if section == "agent":
            value = value or getattr(provider, field, None)
        if isinstance(value, int | float):
            shown = str(value).lower() if isinstance(value, bool) else f"{value:.15g}"
            assert option.default == shown, name
        elif value and name in (
            "listener.host",
            "log.level",
            "log.format",
            "agent.transport",
            "agent.key_strategy",
        ):
            assert option.default == value, name
        elif section in ("runs", "approvals") and value != ():
            assert option.default == str(getattr(value, "value", value)), name
