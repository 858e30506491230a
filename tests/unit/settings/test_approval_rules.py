"""The rules of approvals in config.yaml."""

from __future__ import annotations

import pytest

from hermes.core.errors import SettingsError
from hermes.settings.loading import load_settings
from hermes.settings.model import ApprovalRule, ApprovalSettings
from tests.unit.settings.conftest import WriteConfig


def test_nothing_said_means_the_defaults(environ: dict[str, str]) -> None:
    assert load_settings(environ=environ).approvals == ApprovalSettings()


def test_rules_are_read_in_the_order_of_the_file(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config(
        """
approvals:
  mode: deny
  timeout_seconds: 60
  rules:
    - {tool: terminal, pattern: "git *", action: allow}
    - {key: laptop, pattern: "", action: ASK}
"""
    )
    assert load_settings(environ=environ).approvals == ApprovalSettings(
        mode="deny",
        timeout_seconds=60.0,
        rules=(
            ApprovalRule(tool="terminal", pattern="git *", action="allow"),
            ApprovalRule(key="laptop", action="ask"),
        ),
    )


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        ("allow", "approvals.rules: found 'allow'; allowed: a list of sections"),
        ("[allow]", "approvals.rules[1]: found a value of type str; allowed: a section with tool"),
        ("[{tool: x}]", "approvals.rules[1].action: found nothing; allowed: one of allow, ask"),
        (
            "[{action: ask}, {action: maybe}]",
            "approvals.rules[2].action: found 'maybe'; allowed: one of allow, ask, deny",
        ),
        (
            "[{action: ask, command: ls}]",
            "approvals.rules[1].command: found an unknown key; allowed: tool, pattern, key, action",
        ),
        ("[{action: ask, pattern: 5}]", "approvals.rules[1].pattern: found 5; allowed: text on"),
    ],
)
def test_a_wrong_rule_is_named_by_its_place(
    environ: dict[str, str], write_config: WriteConfig, rules: str, complaint: str
) -> None:
    write_config(f"approvals:\n  rules: {rules}\n")
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ)
    assert complaint in str(caught.value)


def test_a_rule_about_a_key_that_does_not_exist_is_a_warning(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config(
        """
server: {keys: {laptop: {key: k-laptop}}}
approvals:
  rules:
    - {key: lap*, action: allow}
    - {key: default, action: allow}
    - {key: phone, action: deny}
"""
    )
    assert load_settings(environ=environ).warnings == (
        "config.yaml: approvals.rules[3] is about a key that does not exist; known are: "
        "default, local, laptop",
    )
