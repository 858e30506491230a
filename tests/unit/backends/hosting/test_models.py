"""The names of CLI agents' models: which exist, what they stand for, what is refused."""

from __future__ import annotations

import pytest

from hermes.backends.drivers.base import Kind
from hermes.backends.hosting.models import HostedModel, hosted_model, hosted_names
from hermes.core.cli_agents import Profile
from hermes.core.errors import Forbidden, NotFound
from hermes.settings.cli_settings import CliAgentSettings, CliSettings


def kind_of(agent: CliAgentSettings) -> Kind:
    known = {"claude": ("haiku", "sonnet"), "codex": ()}
    models = known[agent.driver]
    return Kind(
        name=agent.driver,
        title=agent.driver,
        install="",
        tested=None,
        models=models,
        default_model="sonnet" if models else None,
        login_files=(),
        login_variables=(),
        login_help="",
        provider_dialect=None,
    )


CLAUDE = CliAgentSettings(name="claude", driver="claude", command=("claude",), profile=Profile.EDIT)
CODEX = CliAgentSettings(name="codex", driver="codex", command=("codex",))
BOTH = CliSettings(agents=(CLAUDE, CODEX))


def test_the_driver_s_models_are_served_unless_the_operator_names_others() -> None:
    named = CliAgentSettings(name="mine", driver="claude", command=("x",), models=("opus",))
    settings = CliSettings(agents=(CLAUDE, CODEX, named))

    assert hosted_names(settings, kind_of) == [
        "claude/haiku",
        "claude/sonnet",
        "codex",
        "mine/opus",
    ]


@pytest.mark.parametrize(
    ("asked", "model", "profile"),
    [
        ("claude/haiku", "haiku", Profile.EDIT),
        ("claude", "sonnet", Profile.EDIT),
        ("claude/haiku@chat", "haiku", Profile.CHAT),
        ("claude@edit", "sonnet", Profile.EDIT),
        ("codex", None, Profile.CHAT),
    ],
)
def test_a_name_says_agent_model_and_profile(
    asked: str, model: str | None, profile: Profile
) -> None:
    agent = CODEX if asked == "codex" else CLAUDE

    found = hosted_model(BOTH, kind_of, asked)

    assert found == HostedModel(agent=agent, model=model, profile=profile)


def test_the_operator_s_default_model_answers_to_the_bare_name() -> None:
    agent = CliAgentSettings(
        name="claude", driver="claude", command=("claude",), default_model="haiku"
    )
    found = hosted_model(CliSettings(agents=(agent,)), kind_of, "claude")

    assert found is not None and found.name == "claude/haiku"


@pytest.mark.parametrize("asked", ["gpt-5", "hermes-agent", "Claude", "claud", "/haiku", ""])
def test_other_names_are_no_cli_agent_s(asked: str) -> None:
    assert hosted_model(BOTH, kind_of, asked) is None


@pytest.mark.parametrize("asked", ["claude/opus", "claude/", "claude/haiku/x", "codex/any"])
def test_a_model_that_its_agent_does_not_serve_is_not_found(asked: str) -> None:
    with pytest.raises(NotFound, match="serves no model") as refusal:
        hosted_model(BOTH, kind_of, asked)

    assert refusal.value.code == "model_not_found"


def test_a_request_cannot_raise_the_profile() -> None:
    with pytest.raises(Forbidden, match="can only lower it") as refusal:
        hosted_model(BOTH, kind_of, "claude/haiku@full")

    assert refusal.value.code == "profile_not_allowed"


def test_a_profile_that_does_not_exist_is_not_found() -> None:
    with pytest.raises(NotFound, match="chat, read-only, edit, full"):
        hosted_model(BOTH, kind_of, "claude/haiku@root")
