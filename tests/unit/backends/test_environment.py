"""What children may know, and what messages may show."""

from __future__ import annotations

from pathlib import Path

from hermes.backends import environment

OPERATOR = {
    "PATH": "/usr/bin",
    "HOME": "/home/me",
    "LC_ALL": "de_DE.UTF-8",
    "https_proxy": "http://proxy:3128",
    "ANTHROPIC_API_KEY": "sk-ant-0123456789",
    "CLAUDE_CONFIG_DIR": "/home/me/.claude",
    "SSH_AUTH_SOCK": "/run/agent",
    "API_BEARER_TOKEN": "the-bridge-token",
    "DATABASE_URL": "postgres://secret",
    "GIT_DIR": "/elsewhere",
    "PATHOLOGICAL": "no",
}


def test_the_cli_gets_its_login_and_nothing_else_that_is_secret() -> None:
    assert environment.for_claude(OPERATOR) == {
        "PATH": "/usr/bin",
        "HOME": "/home/me",
        "LC_ALL": "de_DE.UTF-8",
        "https_proxy": "http://proxy:3128",
        "ANTHROPIC_API_KEY": "sk-ant-0123456789",
        "CLAUDE_CONFIG_DIR": "/home/me/.claude",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "DISABLE_AUTOUPDATER": "1",
    }


def test_the_operators_own_choice_beats_our_default() -> None:
    passed = environment.for_claude({"CLAUDE_CODE_MAX_RETRIES": "7"})
    assert passed["CLAUDE_CODE_MAX_RETRIES"] == "7"


def test_git_gets_no_login_asks_no_questions_and_looks_no_higher(tmp_path: Path) -> None:
    passed = environment.for_git(OPERATOR, tmp_path / "work")
    assert passed["SSH_AUTH_SOCK"] == "/run/agent"
    assert passed["GIT_TERMINAL_PROMPT"] == "0"
    assert passed["GIT_CEILING_DIRECTORIES"] == str(tmp_path)
    assert passed["LC_ALL"] == "C.UTF-8"
    assert not {"ANTHROPIC_API_KEY", "API_BEARER_TOKEN", "GIT_DIR"} & passed.keys()


def test_the_values_of_secret_variables_are_masked() -> None:
    text = "key sk-ant-0123456789 and the-bridge-token at /home/me"
    assert environment.redact(text, OPERATOR) == "key *** and *** at /home/me"


def test_a_job_knows_no_login_and_none_of_the_users_places() -> None:
    environ = OPERATOR | {"XDG_CONFIG_HOME": "/home/me/.config", "TMPDIR": "/tmp/me"}
    del environ["https_proxy"]
    assert environment.for_job(environ) == {"PATH": "/usr/bin", "LC_ALL": "de_DE.UTF-8"}


def test_a_job_knows_what_it_is_allowed_besides() -> None:
    passed = environment.for_job(OPERATOR, ["ANTHROPIC_API_KEY", "ABSENT"])
    assert passed["ANTHROPIC_API_KEY"] == "sk-ant-0123456789"
    assert "ABSENT" not in passed


def test_a_job_reaches_this_machine_without_the_proxy() -> None:
    passed = environment.for_job(OPERATOR | {"NO_PROXY": "intern.example, localhost"})
    assert passed["no_proxy"] == passed["NO_PROXY"] == "intern.example,localhost,127.0.0.1,::1"
