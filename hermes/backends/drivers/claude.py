"""Claude Code: what it can do, and how it is started. Pure; starts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hermes.backends.drivers.base import Features, Installed, Kind, Peer
from hermes.backends.drivers.claude_flags import can_confine, flags, schema_flags
from hermes.backends.drivers.claude_peer import ClaudePeer, OneShotPeer, replaces_prompt
from hermes.backends.jobs import Endpoint, Places, Plan, Question, Setup
from hermes.core.cli_agents import Profile

KIND = Kind(
    name="claude",
    title="Claude Code",
    install="npm install -g @anthropic-ai/claude-code",
    tested=((2, 1, 197), (2, 1, 325)),
    models=("haiku", "sonnet", "opus"),
    default_model="sonnet",
    # `.claude.json` beside it has settings of projects, servers among them, and no login.
    login_files=(".claude/.credentials.json",),
    login_variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    login_help="run claude once and log in, or set ANTHROPIC_API_KEY",
    provider_dialect="anthropic",
)

_PRINT = ("-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages")
_TALK = (*_PRINT, "--input-format", "stream-json")
_ASKS = ("--permission-prompt-tool", "stdio")

_ENVIRONMENT = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    # Ten by default: a refused key would be tried for more than a minute.
    "CLAUDE_CODE_MAX_RETRIES": "2",
    # A job is over when it has answered: nothing of it goes on, and nothing is kept for others.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
}


class ClaudeDriver:
    """Talks in both directions, or, if it has to be, gives one prompt and reads the answer."""

    def __init__(self, installed: Installed, *, one_shot: bool = False) -> None:
        self._installed = installed
        self._is_one_shot = one_shot

    @property
    def features(self) -> Features:
        talks = not self._is_one_shot
        return Features(
            chooses_session_ids=True,
            images=talks,
            answer_schema=True,
            asks=talks,
            can_be_warm=talks,
            late_system_prompt=talks,
            profiles=self._profiles,
        )

    def plan(
        self, setup: Setup, places: Places, endpoint: Endpoint | None, question: Question | None
    ) -> Plan:
        argv = [*self._installed.command, *(_PRINT if self._is_one_shot else _TALK)]
        if setup.can_ask and not self._is_one_shot:
            argv += _ASKS
        argv += flags(self._installed, setup)
        files: dict[Path, bytes] = {}
        if self._is_one_shot:
            # Otherwise both are told with the question, and one warm process fits them all.
            argv += schema_flags(setup)
            if flag := _prompt_flag(setup):
                path = places.scratch / "system-prompt.txt"
                argv += [flag, str(path)]
                files[path] = (setup.system_prompt or "").encode(errors="replace")
        return Plan(argv=tuple(argv), environment=_environment(places, endpoint), files=files)

    def peer(self, setup: Setup, places: Places) -> Peer:
        return OneShotPeer(setup) if self._is_one_shot else ClaudePeer(setup)

    @property
    def _profiles(self) -> frozenset[Profile]:
        """Without `--restricted` nothing keeps `@path` inside the workspace but reading nothing."""
        if can_confine(self._installed):
            return frozenset(Profile)
        return frozenset({Profile.CHAT, Profile.FULL})


def _prompt_flag(setup: Setup) -> str | None:
    if replaces_prompt(setup):
        return "--system-prompt-file"
    return "--append-system-prompt-file" if setup.system_prompt else None


def _environment(places: Places, endpoint: Endpoint | None) -> Mapping[str, str]:
    own = {**_ENVIRONMENT, "CLAUDE_CONFIG_DIR": str(places.home / ".claude")}
    if endpoint is None:
        return own
    return {**own, "ANTHROPIC_BASE_URL": endpoint.base_url, "ANTHROPIC_API_KEY": endpoint.key}
