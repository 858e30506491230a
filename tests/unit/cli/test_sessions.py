"""`hermes sessions`: listing, showing and deleting what is stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hermes.core.errors import HermesError
from hermes_cli.main import hermes
from hermes_state import SessionDB

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "terminal", "arguments": '{"command": "ls -la"}'},
}


def run(cli: CliRunner, *arguments: str, typed: str = "") -> Result:
    return cli.invoke(hermes, ["sessions", *arguments], input=typed)


def talk(store: SessionDB, session_id: str, *said: str) -> None:
    store.create_session(session_id, "cli", model="demo")
    for index, text in enumerate(said):
        store.append_message(session_id, "assistant" if index % 2 else "user", text)


def problem_of(result: Result) -> str:
    assert isinstance(result.exception, HermesError)
    return str(result.exception)


def test_without_a_database_there_are_no_sessions_and_none_is_made(
    cli: CliRunner, home: Path
) -> None:
    result = run(cli, "list")

    assert result.exit_code == 0
    assert result.output.startswith("No sessions yet")
    assert not home.exists()


def test_a_broken_config_does_not_matter(cli: CliRunner, home: Path, store: SessionDB) -> None:
    (home / "config.yaml").write_text("{ not yaml")
    talk(store, "s1", "hello")

    assert run(cli, "list").exit_code == 0


def test_the_table_shows_the_latest_first_with_title_or_first_words(
    cli: CliRunner, store: SessionDB
) -> None:
    talk(store, "older", "What is here?", "Two files.")
    talk(store, "newer", "hi")
    store.set_session_title("newer", "Greetings")

    lines = run(cli, "list").output.splitlines()

    assert [line.split()[0] for line in lines] == ["ID", "newer", "older"]
    assert lines[1].endswith("Greetings")
    assert lines[2].endswith("What is here?")
    assert "today" in lines[2]
    assert " 2 " in lines[2]
    assert "cli" in lines[2]


def test_a_limited_list_says_how_many_are_missing(cli: CliRunner, store: SessionDB) -> None:
    for number in range(3):
        talk(store, f"s{number}", "hi")

    result = run(cli, "list", "--limit", "1")

    assert len(result.stdout.splitlines()) == 2
    assert "2 more" in result.stderr


def test_the_json_list_has_every_field(cli: CliRunner, store: SessionDB) -> None:
    talk(store, "s1", "hello")

    [session] = json.loads(run(cli, "list", "--json").output)

    stored = store.get_session("s1")
    assert stored is not None
    assert session == {**stored, "preview": "hello"}


def test_an_empty_json_list_is_still_json(cli: CliRunner) -> None:
    assert json.loads(run(cli, "list", "--json").output) == []


def test_a_conversation_is_shown_with_its_tools(cli: CliRunner, store: SessionDB) -> None:
    talk(store, "s1", "List it.")
    store.append_message("s1", "assistant", None, tool_calls=[CALL])
    output = "\n".join(f"file {number}" for number in range(20))
    store.append_message("s1", "tool", output, tool_call_id="call_1", tool_name="terminal")
    store.append_message("s1", "assistant", "Twenty files.\x1b[2J")

    lines = run(cli, "show", "s1").output.splitlines()

    assert lines[0] == "Session:   s1"
    assert "  List it." in lines
    assert "  ⚙ terminal  ls -la" in lines
    assert "    file 11" in lines
    assert "    file 12" not in lines
    assert "    … 8 more lines (--json shows all)" in lines
    assert lines[-1] == "  Twenty files.[2J"


def test_images_and_arguments_that_are_no_json_can_be_shown(
    cli: CliRunner, store: SessionDB
) -> None:
    store.create_session("s1", "api_server")
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    store.append_message("s1", "user", [{"type": "text", "text": "Look:"}, image])
    broken = {"id": "c", "function": {"name": "mystery", "arguments": "{oops"}}
    store.append_message("s1", "assistant", None, tool_calls=[broken])

    lines = run(cli, "show", "s1").output.splitlines()

    assert "  Look:" in lines
    assert "  [image]" in lines
    assert "  ⚙ mystery" in lines


def test_show_as_json_has_the_messages_in_full(cli: CliRunner, store: SessionDB) -> None:
    talk(store, "s1", "hello", "Hi!")

    shown = json.loads(run(cli, "show", "s1", "--json").output)

    assert shown["id"] == "s1"
    assert [message["content"] for message in shown["messages"]] == ["hello", "Hi!"]


def test_the_beginning_of_an_id_is_enough(cli: CliRunner, store: SessionDB) -> None:
    talk(store, "cli-abc1", "hello")

    assert "cli-abc1" in run(cli, "show", "cli-a").output


def test_an_ambiguous_beginning_is_refused_with_the_candidates(
    cli: CliRunner, store: SessionDB
) -> None:
    talk(store, "cli-abc1", "hello")
    talk(store, "cli-abc2", "hello")

    problem = problem_of(run(cli, "show", "cli-abc"))

    assert "cli-abc1" in problem
    assert "cli-abc2" in problem


def test_a_whole_id_wins_over_being_the_beginning_of_another(
    cli: CliRunner, store: SessionDB
) -> None:
    talk(store, "cli-1", "short")
    talk(store, "cli-12", "long")

    assert "short" in run(cli, "show", "cli-1").output


@pytest.mark.parametrize("wanted", ["nothing", ""])
def test_an_unknown_id_says_where_to_find_the_known_ones(
    cli: CliRunner, store: SessionDB, wanted: str
) -> None:
    talk(store, "s1", "hello")

    assert "hermes sessions list" in problem_of(run(cli, "show", wanted))


def test_sessions_are_deleted_after_a_yes(cli: CliRunner, store: SessionDB) -> None:
    talk(store, "s1", "hello")

    result = run(cli, "rm", "s1", typed="y\n")

    assert "hello" in result.stderr
    assert store.get_session("s1") is None


def test_nothing_is_deleted_after_a_no(cli: CliRunner, store: SessionDB) -> None:
    talk(store, "s1", "hello")

    run(cli, "rm", "s1", typed="n\n")

    assert store.get_session("s1") is not None


def test_an_unknown_id_does_not_save_the_others(cli: CliRunner, store: SessionDB) -> None:
    talk(store, "s1", "hello")
    talk(store, "s2", "hello")

    result = run(cli, "rm", "s1", "unknown", "s2", "s2", "--yes")

    assert "'unknown'" in problem_of(result)
    assert result.exit_code == 1
    assert store.count_sessions() == 0


def test_without_a_database_deleting_finds_nothing(cli: CliRunner, home: Path) -> None:
    assert "'s1'" in problem_of(run(cli, "rm", "s1", "--yes"))
    assert not home.exists()


def test_what_was_said_is_found(cli: CliRunner, store: SessionDB) -> None:
    talk(store, "s1", "Where is the \x1b[2J budget?", "In the drawer.")
    talk(store, "s2", "Hello")

    lines = run(cli, "search", "budget").output.splitlines()
    [hit] = json.loads(run(cli, "search", "bud*", "where", "--json").stdout)

    assert lines[0].split()[0] == "s1"
    assert lines[1] == "  Where is the [2J budget?"
    assert (hit["session_id"], hit["role"]) == ("s1", "user")


def test_a_search_without_hits_says_so(cli: CliRunner, store: SessionDB, home: Path) -> None:
    talk(store, "s1", "Hello")

    assert "Nothing found" in run(cli, "search", "nonsense").stderr
    assert run(cli, "search", '"').exit_code == 0


def test_a_search_that_is_cut_says_so(cli: CliRunner, store: SessionDB) -> None:
    talk(store, "s1", "word", "word", "word")

    assert "There are more" in run(cli, "search", "word", "--limit", "2").stderr


def test_a_conversation_is_moved_by_a_file(cli: CliRunner, store: SessionDB, home: Path) -> None:
    talk(store, "s1", "Hello", "Hi.")
    file = home / "kept.json"

    assert run(cli, "export", "s1", "--output", str(file)).exit_code == 0
    assert file.stat().st_mode & 0o777 == 0o600
    taken = run(cli, "import", str(file), "--keep-id")
    assert "already" in problem_of(taken)
    imported = run(cli, "import", str(file)).output.split()[-1].rstrip(".")

    def said(session_id: str) -> list[tuple[str, str, float]]:
        return [(m["role"], m["content"], m["timestamp"]) for m in store.get_messages(session_id)]

    assert said(imported) == said("s1")
    assert run(cli, "rm", "s1", "--yes").exit_code == 0
    assert run(cli, "import", "-", "--keep-id", typed=file.read_text()).exit_code == 0
    assert said("s1") == said(imported)


def test_an_export_overwrites_nothing(cli: CliRunner, store: SessionDB, home: Path) -> None:
    talk(store, "s1", "Hello")
    file = home / "taken.json"
    file.write_text("mine")

    assert "cannot be written" in problem_of(run(cli, "export", "s1", "--output", str(file)))
    assert file.read_text() == "mine"
    assert json.loads(run(cli, "export", "s1").stdout)["session"]["id"] == "s1"


@pytest.mark.parametrize(
    ("typed", "problem"),
    [("no json", "no JSON"), ("[1]", "no exported session"), ("{}", "'object' must be")],
)
def test_a_file_that_is_no_export_is_refused(
    cli: CliRunner, store: SessionDB, typed: str, problem: str
) -> None:
    assert problem in problem_of(run(cli, "import", "-", typed=typed))
    assert store.count_sessions() == 0


def test_the_list_reads_no_transcripts(
    cli: CliRunner, store: SessionDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(store, "s1", "Hello there")
    monkeypatch.delattr(SessionDB, "get_messages")

    assert run(cli, "list").output.splitlines()[1].endswith("Hello there")
