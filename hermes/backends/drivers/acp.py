"""Agents that speak ACP, the Agent Client Protocol: one driver for all of them. Pure."""

from __future__ import annotations

from pathlib import Path

from hermes.backends.drivers.acp_presets import UNKNOWN, preset_of
from hermes.backends.drivers.acp_talk import AcpPeer
from hermes.backends.drivers.base import Features, Installed, Kind, Peer
from hermes.backends.jobs import Endpoint, Places, Plan, Question, Setup
from hermes.core.cli_agents import Profile

KIND = UNKNOWN.kind
"""Of an agent that has no preset; `kind_of` knows the others."""


def kind_of(command: tuple[str, ...]) -> Kind:
    """What is known of the agent that `command` starts."""
    return preset_of(command).kind


class AcpDriver:
    """An ACP agent as it is installed here."""

    def __init__(self, installed: Installed) -> None:
        self._installed = installed
        self._preset = preset_of(installed.command)

    @property
    def features(self) -> Features:
        # What the agent itself says comes too late for this: where it cannot do one of these
        # the job fails and says so.
        return Features(
            resumes=self._preset.resumes,
            images=True,
            asks=True,
            can_be_warm=True,
            late_system_prompt=True,
            profiles=self._preset.profiles,
        )

    def plan(
        self, setup: Setup, places: Places, endpoint: Endpoint | None, question: Question | None
    ) -> Plan:
        prepared = self._preset.prepare(setup, places, endpoint)
        given = self._installed.command
        # The operator may have written what makes it speak ACP already.
        speaking = tuple(word for word in self._preset.arguments if word not in given[1:])
        return Plan(
            argv=(*given, *speaking, *prepared.arguments),
            environment=prepared.environment,
            files=prepared.files,
            folder=_folder(setup, places),
        )

    def peer(self, setup: Setup, places: Places) -> Peer:
        return AcpPeer(setup, _folder(setup, places), self._preset)


def _folder(setup: Setup, places: Places) -> Path:
    """In `chat` nothing of the workspace is read, not even what it has for the agent."""
    return places.scratch if setup.profile is Profile.CHAT else places.workspace
