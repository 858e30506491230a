"""The names under which CLI agents can be asked for: `claude/haiku`, `claude`, `claude/haiku@chat`.

The part after the slash is the CLI's own name for the model, the one after the `@` a profile below
the operator's. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hermes.backends.drivers.base import Kind
from hermes.core.cli_agents import Profile
from hermes.core.errors import Forbidden, NotFound
from hermes.settings.cli_settings import CliAgentSettings, CliSettings

KindOf = Callable[[CliAgentSettings], Kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedModel:
    """What a request asked for."""

    agent: CliAgentSettings
    model: str | None
    """The CLI's name for it; None: the CLI's own choice."""
    profile: Profile

    @property
    def name(self) -> str:
        """As clients know it."""
        return self.agent.name if self.model is None else f"{self.agent.name}/{self.model}"


def hosted_names(settings: CliSettings, kind_of: KindOf) -> list[str]:
    """Everything that /v1/models lists of CLI agents."""
    return [name for agent in settings.agents for name in _names(agent, kind_of(agent))]


def _names(agent: CliAgentSettings, kind: Kind) -> Iterable[str]:
    models = served_models(agent, kind)
    return [f"{agent.name}/{model}" for model in models] or [agent.name]


def served_models(agent: CliAgentSettings, kind: Kind) -> tuple[str, ...]:
    return agent.models or kind.models


def hosted_model(settings: CliSettings, kind_of: KindOf, asked: str) -> HostedModel | None:
    """What stands behind a name; None when it is no CLI agent's.

    Raises `NotFound` for a model that the agent does not serve, and `Forbidden` for a profile
    above the operator's.
    """
    name, _, lowered = asked.partition("@")
    agent_name, slash, model = name.partition("/")
    agent = settings.agent(agent_name)
    if agent is None:
        return None
    kind = kind_of(agent)
    known = served_models(agent, kind)
    if slash and model not in known:
        raise _not_served(agent, model, known)
    return HostedModel(
        agent=agent,
        model=model or agent.default_model or _first_choice(kind, known),
        profile=_profile(agent, lowered, asked),
    )


def _first_choice(kind: Kind, known: tuple[str, ...]) -> str | None:
    if kind.default_model in known:
        return kind.default_model
    return known[0] if known else None


def _profile(agent: CliAgentSettings, lowered: str, asked: str) -> Profile:
    if "@" not in asked:
        return agent.profile
    try:
        wanted = Profile(lowered)
    except ValueError:
        names = ", ".join(profile.value for profile in Profile)
        raise NotFound(
            f"There is no profile '{lowered[:40]}'; those of a CLI agent are {names}.",
            code="model_not_found",
            param="model",
        ) from None
    if not wanted.within(agent.profile):
        raise Forbidden(
            f"'{agent.name}' may go as far as the profile '{agent.profile.value}' here, and "
            f"'{wanted.value}' goes further. A request can only lower it; the operator can raise "
            f"it with cli.agents.{agent.name}.profile.",
            code="profile_not_allowed",
            param="model",
        )
    return wanted


def _not_served(agent: CliAgentSettings, model: str, known: tuple[str, ...]) -> NotFound:
    listed = ", ".join(f"{agent.name}/{each}" for each in known) or agent.name
    return NotFound(
        f"'{agent.name}' serves no model '{model[:60]}', but {listed}; the operator can add it to "
        f"cli.agents.{agent.name}.models.",
        code="model_not_found",
        param="model",
    )
