"""Agents that speak ACP, as data: what each is called and can be trusted with.

What an agent was not seen to keep to is not promised for it. What a checkout brings (settings,
hooks, MCP servers, plugins, `.env`) is off everywhere, with one exception, named below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hermes.backends.drivers import acp_preparing
from hermes.backends.drivers.base import Kind
from hermes.backends.jobs import Endpoint, Places, Setup
from hermes.core.cli_agents import Profile

NAME = "acp"

Prepare = Callable[[Setup, Places, Endpoint | None], acp_preparing.Preparation]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One agent."""

    kind: Kind
    program: str
    arguments: tuple[str, ...]
    """What makes it speak ACP."""
    profiles: frozenset[Profile]
    """Those that it was seen to keep to."""
    prepare: Prepare
    is_told_the_model: bool = True
    """Whether `prepare` says which model is wanted; otherwise it is chosen in the session."""
    resumes: bool = False
    """Whether it takes up a session again from whichever folder, as each job has its own."""
    confines_edits: bool = False
    """Whether it changes files in its workspace only, so that nobody has to be asked."""


def preset_of(command: tuple[str, ...]) -> Preset:
    """The preset of the agent that `command` starts; one that promises nothing for others."""
    program = Path(command[0]).name if command else ""
    return next((preset for preset in PRESETS if preset.program == program), UNKNOWN)


def _kind(
    title: str,
    install: str,
    *,
    tested: tuple[int, ...] | None = None,
    login_files: tuple[str, ...] = (),
    login_variables: tuple[str, ...] = (),
    login_help: str,
    provider_dialect: Literal["responses"] | None = None,
) -> Kind:
    return Kind(
        name=NAME,
        title=title,
        install=install,
        tested=(tested, tested) if tested else None,
        models=(),
        default_model=None,
        login_files=login_files,
        login_variables=login_variables,
        login_help=login_help,
        provider_dialect=provider_dialect,
    )


PRESETS = (
    Preset(
        kind=_kind(
            "opencode",
            "npm install -g opencode-ai",
            tested=(1, 18, 33),
            login_files=(".local/share/opencode/auth.json",),
            login_variables=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENCODE_API_KEY"),
            login_help="run opencode auth login, or set base_url and api_key",
            provider_dialect="responses",
        ),
        program="opencode",
        arguments=("acp", "--pure"),
        # It follows links out of its workspace without asking. In `full`, plugins that lie in a
        # checkout's .opencode run: it has no switch for that.
        profiles=frozenset({Profile.CHAT, Profile.FULL}),
        prepare=acp_preparing.opencode,
        resumes=True,
    ),
    Preset(
        kind=_kind(
            "Gemini CLI",
            "npm install -g @google/gemini-cli",
            tested=(0, 61, 0),
            login_files=(".gemini/oauth_creds.json", ".gemini/google_accounts.json"),
            login_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            login_help="set GEMINI_API_KEY, or base_url and api_key",
        ),
        program="gemini",
        arguments=("--acp",),
        profiles=frozenset(Profile),
        prepare=acp_preparing.gemini,
        confines_edits=True,
    ),
    Preset(
        kind=_kind(
            "Qwen Code",
            "npm install -g @qwen-code/qwen-code",
            tested=(0, 15, 10),
            login_files=(".qwen/oauth_creds.json",),
            login_variables=("OPENAI_API_KEY", "DASHSCOPE_API_KEY"),
            login_help="set base_url and api_key, or run qwen and log in",
        ),
        program="qwen",
        arguments=("--acp",),
        # With a shell it runs commands that it takes for harmless without asking.
        profiles=frozenset({Profile.CHAT, Profile.READ_ONLY, Profile.FULL}),
        prepare=acp_preparing.qwen,
    ),
    # Not tried: what stands here is from its documentation.
    Preset(
        kind=_kind(
            "goose",
            "brew install block-goose-cli",
            login_files=(".config/goose/config.yaml",),
            login_variables=("OPENAI_API_KEY", "ANTHROPIC_API_KEY"),
            login_help="run goose configure, or set base_url and api_key",
        ),
        program="goose",
        arguments=("acp",),
        profiles=frozenset({Profile.FULL}),
        prepare=acp_preparing.goose,
    ),
)

UNKNOWN = Preset(
    kind=_kind("an ACP agent", "", login_help="log in with the agent itself"),
    program="",
    arguments=(),
    profiles=frozenset({Profile.FULL}),
    prepare=acp_preparing.plain,
    is_told_the_model=False,
)
"""Any other agent, which is started as the operator says."""
