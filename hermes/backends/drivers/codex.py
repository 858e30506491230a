"""Codex: how it is called, in both of its ways. Pure; starts nothing.

`codex app-server` streams, asks for approval and can be interrupted; `codex exec --json` is the
way for one question and one answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from hermes.backends.drivers import codex_settings
from hermes.backends.drivers.base import Features, Installed, Kind, Peer
from hermes.backends.drivers.codex_exec import ExecPeer
from hermes.backends.drivers.codex_server import AppServerPeer
from hermes.backends.drivers.toml_values import quoted
from hermes.backends.jobs import Endpoint, Places, Plan, Question, Setup
from hermes.core.cli_agents import Profile

KIND = Kind(
    name="codex",
    title="Codex",
    install="npm install -g @openai/codex",
    tested=((0, 166, 0), (0, 166, 0)),
    models=(),
    default_model=None,
    login_files=(".codex/auth.json",),
    login_variables=("CODEX_API_KEY", "OPENAI_API_KEY"),
    login_help="run codex login, or set OPENAI_API_KEY",
    provider_dialect="responses",
)

_CONFINES = (0, 166)
"""The first version known to keep commands within the workspace, for reading too."""


class CodexDriver:
    """Codex as it is installed here."""

    def __init__(self, installed: Installed, *, one_shot: bool = False) -> None:
        self._installed = installed
        self._one_shot = one_shot
        # Where the program really is: the sandbox has to show it to the commands in it.
        self._program = Path(installed.command[0]).resolve()

    @property
    def features(self) -> Features:
        return Features(
            images=True,
            answer_schema=True,
            asks=not self._one_shot,
            can_be_warm=not self._one_shot,
            late_system_prompt=not self._one_shot,
            profiles=self._profiles(),
        )

    def plan(
        self, setup: Setup, places: Places, endpoint: Endpoint | None, question: Question | None
    ) -> Plan:
        codex_home = places.home / ".codex"
        environment = {"CODEX_HOME": str(codex_home), "NO_COLOR": "1"}
        if endpoint:
            environment[codex_settings.KEY_VARIABLE] = endpoint.key
        # Whatever an earlier job in this home left there, nothing but ours is read.
        settings = codex_home / "config.toml"
        flags = codex_settings.flags(setup, places.workspace, endpoint, self._program)
        if not self._one_shot:
            argv = (*self._installed.command, "app-server", *flags)
            return Plan(argv=argv, environment=environment, files={settings: b""})
        attached = _attached(setup, places, question)
        argv = (*self._installed.command, *_exec_arguments(setup, flags, attached))
        files = {settings: _instructions(setup), **attached}
        return Plan(argv=argv, environment=environment, files=files)

    def peer(self, setup: Setup, places: Places) -> Peer:
        return ExecPeer(setup) if self._one_shot else AppServerPeer(setup, places)

    def _profiles(self) -> frozenset[Profile]:
        is_confining = not self._installed.version or self._installed.version >= _CONFINES
        return frozenset(Profile) if is_confining else frozenset({Profile.FULL})


def _instructions(setup: Setup) -> bytes:
    """By file, because arguments are short and everybody on the machine can read them.

    The server is told them when it opens a thread.
    """
    if not setup.system_prompt:
        return b""
    line = f"developer_instructions = {quoted(setup.system_prompt)}\n"
    return line.encode(errors="replace")


def _attached(setup: Setup, places: Places, question: Question | None) -> Mapping[Path, bytes]:
    """The files that `codex exec` is pointed to."""
    images = enumerate(question.images if question else ())
    files = {places.scratch / f"image-{index}{image.suffix}": image.data for index, image in images}
    if setup.answer_schema is not None:
        files[_schema_file(places)] = json.dumps(setup.answer_schema).encode()
    return files


def _schema_file(places: Places) -> Path:
    return places.scratch / "answer-schema.json"


def _exec_arguments(
    setup: Setup, flags: tuple[str, ...], attached: Mapping[Path, bytes]
) -> tuple[str, ...]:
    session = setup.session
    resumed = session.id if session is not None and session.is_resumed else None
    files = [
        part
        for path in attached
        for part in ("--output-schema" if path.suffix == ".json" else "--image", str(path))
    ]
    return (
        "exec",
        *(("resume",) if resumed else ()),
        *files,
        *flags,
        "--json",
        "--skip-git-repo-check",
        "--ignore-rules",
        *(("--ephemeral",) if session is None else ()),
        "--",
        *((resumed,) if resumed else ()),
        "-",
    )
