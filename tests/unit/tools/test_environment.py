"""Commands see a small environment without secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from hermes.tools.environment import child_environment, looks_secret

HOME = Path("/somewhere")


def test_only_allowed_names_pass_and_home_is_the_given_one() -> None:
    source = {"PATH": "/bin", "LC_ALL": "C", "HOME": "/root", "EDITOR": "vi", "TZ": "UTC"}
    expected = {"PATH": "/bin", "LC_ALL": "C", "TZ": "UTC", "HOME": "/somewhere"}
    assert child_environment(source, home=HOME) == expected


def test_a_command_always_has_a_path() -> None:
    assert child_environment({}, home=HOME)["PATH"]


def test_extra_names_and_patterns_pass() -> None:
    source = {"CI_JOB": "7", "EDITOR": "vi", "OTHER": "x", "PATH": "/bin"}
    kept = child_environment(source, home=HOME, extra=("CI_*", "EDITOR"))
    assert kept == {"CI_JOB": "7", "EDITOR": "vi", "PATH": "/bin", "HOME": "/somewhere"}


SECRETS = [
    "OPENAI_API_KEY", "API_SERVER_KEY", "GITHUB_TOKEN", "CLIENT_SECRET", "DB_PASSWORD", "MYSQL_PWD",
    "GOOGLE_APPLICATION_CREDENTIALS", "LC_SECRET", "LC_KEY", "aws_secret_access_key",
    "SSH_AUTH_SOCK",
]  # fmt: skip


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_never_pass_whoever_allows_them(name: str) -> None:
    assert name not in child_environment({name: "x"}, home=HOME, extra=("*", name))


@pytest.mark.parametrize("name", ["PATH", "LANG", "GIT_AUTHOR_NAME", "PWD", "USER"])
def test_ordinary_names_do_not_look_secret(name: str) -> None:
    assert not looks_secret(name)
