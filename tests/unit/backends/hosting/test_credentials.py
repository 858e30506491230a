"""How a job is paid for, and what it may know of our environment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hermes.backends.drivers import claude, codex
from hermes.backends.drivers.base import Kind
from hermes.backends.hosting.credentials import Credentials, credentials_of, plain_environment
from hermes.settings.cli_settings import CliAgentSettings

KINDS = {"claude": claude.KIND, "codex": codex.KIND}


def agent(driver: Any = "claude", **fields: Any) -> CliAgentSettings:
    return CliAgentSettings(name="mine", driver=driver, command=("x",), **fields)


def paid(
    settings: CliAgentSettings, environ: dict[str, str], *, can_relay: bool = True
) -> Credentials:
    kind: Kind = KINDS[settings.driver]
    return credentials_of(settings, kind, environ, can_relay=can_relay)


def test_a_key_that_the_gateway_has_stays_there() -> None:
    found = paid(agent(), {"ANTHROPIC_API_KEY": "hunter2", "ANTHROPIC_AUTH_TOKEN": "other"})

    assert found.is_relayed and found.variables == {}
    assert found.upstream is not None
    assert (found.upstream.base_url, found.upstream.key) == ("https://api.anthropic.com", "hunter2")
    assert found.upstream.key_header == "x-api-key"
    assert "hunter2" not in repr(found)


def test_the_agent_s_own_key_and_address_come_first() -> None:
    mine = agent("codex", api_key="mine", base_url="https://models.example/v1")
    found = paid(mine, {"OPENAI_API_KEY": "other", "OPENAI_BASE_URL": "https://other.example/v1"})

    assert found.upstream is not None
    assert (found.upstream.base_url, found.upstream.key) == ("https://models.example", "mine")
    assert found.upstream.key_header == "authorization"


def test_without_a_relay_a_configured_key_is_given_to_the_job() -> None:
    for settings, can_relay in (
        (agent(api_key="k", relay="never"), True),
        (agent(api_key="k"), False),
    ):
        found = paid(settings, {}, can_relay=can_relay)
        assert found.upstream is not None and not found.is_relayed


def test_an_address_alone_is_enough() -> None:
    found = paid(agent(base_url="http://127.0.0.1:9000"), {})

    assert found.upstream is not None
    assert (found.upstream.base_url, found.upstream.key) == ("http://127.0.0.1:9000", "none")


def test_a_cli_that_may_ask_anybody_is_told_what_the_operator_says() -> None:
    kind = replace(codex.KIND, provider_dialect=None)
    mine = agent("codex", base_url="http://127.0.0.1:9000/v1", api_key="k")
    found = credentials_of(mine, kind, {"OPENAI_API_KEY": "other"}, can_relay=True)
    left_alone = credentials_of(agent("codex"), kind, {"OPENAI_API_KEY": "o"}, can_relay=True)

    assert found.upstream is not None and not found.is_relayed
    assert (found.upstream.base_url, found.upstream.key) == ("http://127.0.0.1:9000", "k")
    assert (left_alone.upstream, left_alone.variables) == (None, {"OPENAI_API_KEY": "o"})


def test_without_a_relay_a_key_in_a_variable_is_given_to_the_job_as_one() -> None:
    """Not every CLI would find it in its own variable."""
    found = paid(agent("codex", relay="never"), {"OPENAI_API_KEY": "c", "CODEX_API_KEY": "b"})

    assert found.upstream is not None and not found.is_relayed
    assert (found.upstream.base_url, found.upstream.key) == ("https://api.openai.com", "b")
    assert found.variables == {}


def test_a_login_in_a_variable_is_the_cli_s_own() -> None:
    found = paid(agent(), {"CLAUDE_CODE_OAUTH_TOKEN": "b"})

    assert found == Credentials(
        upstream=None, is_relayed=False, variables={"CLAUDE_CODE_OAUTH_TOKEN": "b"}
    )


@pytest.mark.parametrize("name", ["PATH", "LANG", "LC_ALL", "TZ", "HTTPS_PROXY", "SSL_CERT_FILE"])
def test_a_job_may_know_how_to_speak_and_reach_the_network(name: str) -> None:
    assert plain_environment(agent(), {name: "x"})[name] == "x"


def test_no_proxy_stands_between_a_job_and_the_gateway() -> None:
    known = plain_environment(agent(), {"HTTPS_PROXY": "http://proxy.example:3128"})

    assert "127.0.0.1" in known["NO_PROXY"].split(",")


@pytest.mark.parametrize(
    "name",
    [
        "API_SERVER_KEY",
        "ANTHROPIC_API_KEY",
        "HOME",
        "XDG_CONFIG_HOME",
        "SSH_AUTH_SOCK",
        "CLAUDECODE",
        "LD_PRELOAD",
        "PYTHONPATH",
        "NODE_OPTIONS",
        "GIT_DIR",
    ],
)
def test_a_job_knows_nothing_else(name: str) -> None:
    assert plain_environment(agent(), {name: "x"}) == {}


def test_but_what_the_operator_names() -> None:
    assert plain_environment(agent(environment=("TEAM",)), {"TEAM": "x"}) == {"TEAM": "x"}
