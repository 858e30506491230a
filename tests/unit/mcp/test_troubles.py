"""Why a server cannot be reached is told so that somebody can mend it, without secrets."""

from __future__ import annotations

from hermes.mcp.troubles import LONGEST, trouble
from hermes.settings.mcp_settings import McpServerSettings

PIPES = McpServerSettings(name="one", command="serve", env={"API_KEY": "hunter2-key"})
HTTP = McpServerSettings(name="two", url="https://e.example/mcp", headers={"X": "Bearer hunter2"})


def test_what_went_wrong_is_found_inside_groups() -> None:
    wrapped = ExceptionGroup("tasks", [ExceptionGroup("more", [PermissionError(13, "denied")])])

    assert trouble(PIPES, wrapped) == "'serve' may not be run (denied)"


def test_a_refused_key_is_called_one() -> None:
    assert "refuses the credentials (HTTP 401)" in trouble(HTTP, ValueError(), statuses=[401])
    assert "no MCP server at its url" in trouble(HTTP, ValueError(), statuses=[200, 404])
    assert "HTTP 500" in trouble(HTTP, ValueError(), statuses=[500])


def test_last_words_are_quoted_without_secrets_and_not_at_length() -> None:
    told = trouble(PIPES, None, last_words="bad key hunter2-key " + "x" * 1000)

    assert told.startswith('it ended the connection; its last words: "bad key ***')
    assert len(told) == LONGEST
    assert "hunter2" not in trouble(HTTP, ValueError("hunter2 is wrong"))


def test_an_error_without_words_is_named() -> None:
    assert trouble(PIPES, KeyError()) == "KeyError"
