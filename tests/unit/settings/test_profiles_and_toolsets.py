"""The active profile and the enabled toolsets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hermes.core.errors import SettingsError
from hermes.settings.profiles import active_profile
from hermes.settings.toolsets import BUILTIN_TOOLSETS, enabled_toolsets, narrowed
from tests.unit.settings.conftest import WriteConfig


def test_the_profile_is_found_in_the_variable_then_the_file_then_the_default(
    environ: dict[str, str], write_config: WriteConfig
) -> None:
    assert active_profile(environ) == "default"
    write_config("profile: lucas")
    assert active_profile(environ) == "lucas"
    assert active_profile(environ | {"HERMES_PROFILE": "ada"}) == "ada"


@pytest.mark.parametrize("text", ["profile: [", "profile: [a]", "- a", "profile: 5", "nonsense: 1"])
def test_no_file_is_too_broken_for_a_profile(
    text: str, environ: dict[str, str], write_config: WriteConfig
) -> None:
    write_config(text)
    assert active_profile(environ) == "default"


def test_not_even_a_home_that_is_none(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    assert active_profile({"HERMES_HOME": str(in_the_way)}) == "default"


@pytest.mark.parametrize(
    ("config", "enabled"),
    [
        ({}, BUILTIN_TOOLSETS),
        ({"agent": {"reasoning_effort": "xhigh"}}, BUILTIN_TOOLSETS),
        ({"tools": None}, BUILTIN_TOOLSETS),
        ({"tools": {"toolsets": ["files"]}}, {"files"}),
        ({"tools": {"toolsets": []}}, set()),
        ({"platforms": {"api_server": {"toolsets": []}}, "tools": {"toolsets": ["files"]}}, set()),
        ({"platforms": {"other": {"toolsets": []}}, "tools": {"toolsets": ["files"]}}, {"files"}),
    ],
)
def test_a_platforms_own_toolsets_win_over_the_general_ones(
    config: dict[str, Any], enabled: set[str]
) -> None:
    assert enabled_toolsets(config, "api_server") == enabled


def test_wrong_toolsets_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"config\.yaml: tools\.toolsets: found 5"):
        enabled_toolsets({"tools": {"toolsets": 5}}, "api_server")


@pytest.mark.parametrize(
    ("enabled", "allowed", "left"),
    [
        ({"files", "web"}, None, {"files", "web"}),
        ({"files", "web"}, {"web", "terminal"}, {"web"}),
        ({"files", "web"}, set(), set()),
        ({"mcp"}, {"mcp:git"}, {"mcp:git"}),
        ({"mcp:git", "mcp:mail"}, {"mcp"}, {"mcp:git", "mcp:mail"}),
        ({"mcp:mail"}, {"mcp:git"}, set()),
    ],
)
def test_a_key_may_use_what_is_enabled_and_allowed_to_it(
    enabled: set[str], allowed: set[str] | None, left: set[str]
) -> None:
    assert narrowed(enabled, allowed) == left
