"""What is installed, and what that means."""

from __future__ import annotations

import pytest

from hermes.settings.loading import load_settings
from hermes_cli import doctor_machine
from hermes_cli.doctor_finding import Level


@pytest.mark.parametrize(
    ("version", "level"), [((3, 10, 9), Level.PROBLEM), ((3, 11, 0), Level.OK), ((4, 0), Level.OK)]
)
def test_python_must_be_new_enough(version: tuple[int, ...], level: Level) -> None:
    assert doctor_machine.python_version(version).level is level


@pytest.mark.parametrize(
    ("present", "level"),
    [({"bash", "sh"}, Level.OK), ({"sh"}, Level.WARNING), (set(), Level.PROBLEM)],
)
def test_commands_need_a_shell(present: set[str], level: Level) -> None:
    found = doctor_machine.shell(lambda name: f"/bin/{name}" if name in present else None)

    assert found.level is level


def test_without_ripgrep_searching_still_works() -> None:
    assert doctor_machine.ripgrep(lambda _name: None).level is Level.WARNING
    assert doctor_machine.ripgrep(lambda name: f"/usr/bin/{name}").level is Level.OK


def test_without_fts5_sessions_cannot_be_searched() -> None:
    assert doctor_machine.sqlite_search(has_index=False).level is Level.WARNING
    assert doctor_machine.sqlite_search(has_index=True).level is Level.OK


def test_missing_extras_are_hints() -> None:
    bridge, sdk, web, mcp = doctor_machine.extras(lambda name: name == "openai")

    assert bridge.level is sdk.level is web.level is mcp.level is Level.OK
    assert "starlette and uvicorn not installed" in bridge.detail
    assert "hermes-gateway[sdk]" in sdk.fix


@pytest.mark.parametrize(("is_installed", "level"), [(True, Level.OK), (False, Level.PROBLEM)])
def test_a_configured_sdk_must_be_installed(
    tmp_path_factory: pytest.TempPathFactory, is_installed: bool, level: Level
) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / "config.yaml").write_text("base_url: http://127.0.0.1:1/v1\nmodel: m\ntransport: sdk\n")
    settings = load_settings(environ={"HERMES_HOME": str(home)})

    found = doctor_machine.sdk_transport(settings, lambda _name: is_installed)

    assert found is not None
    assert found.level is level


def test_without_an_sdk_configured_there_is_nothing_to_say() -> None:
    settings = load_settings(environ={"HERMES_HOME": "/nonexistent"})

    assert doctor_machine.sdk_transport(settings, lambda _name: False) is None
