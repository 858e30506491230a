"""The command line as a person and as a script meet it: real processes, a real terminal."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hermes.testing.fake_provider_thread import FakeProviderThread
from hermes.testing.gateway import TestGateway
from hermes.testing.replies import HttpError, Reasoning, Text, ToolUse
from hermes.testing.scripted import EchoModel, ScriptedModel, StreamOf
from hermes_state import SessionDB

ROOT = Path(__file__).resolve().parents[2]
HERMES = [sys.executable, "-m", "hermes_cli.main"]
# What a login does: makes the terminal on stdin the one whose Ctrl-C reaches the program.
IN_TERMINAL = (
    "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "from hermes_cli.main import main; main()"
)
SECONDS = 20.0
CTRL_C, CTRL_D = "\x03", "\x04"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "HERMES_HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "NO_PROXY": "127.0.0.1",
    }


def asking(environ: dict[str, str], provider: FakeProviderThread) -> dict[str, str]:
    """The environment in which the provider is asked instead of the demo model."""
    return {**environ, "OPENAI_BASE_URL": provider.base_url, "HERMES_MODEL": "scripted"}


def run(
    environ: dict[str, str], *arguments: str, typed: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*HERMES, *arguments],
        env=environ,
        cwd=ROOT,
        input=typed,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def start(environ: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*HERMES, *arguments],
        env=environ,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def stored(environ: dict[str, str]) -> list[dict[str, Any]]:
    return list(json.loads(run(environ, "sessions", "list", "--json").stdout))


class Terminal:
    """A program in a pseudo-terminal: what it shows, and a keyboard."""

    def __init__(self, environ: dict[str, str], *arguments: str) -> None:
        self._keyboard, screen = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", IN_TERMINAL, *arguments],
            env=environ,
            cwd=ROOT,
            stdin=screen,
            stdout=screen,
            stderr=screen,
            start_new_session=True,
        )
        os.close(screen)
        self.shown = ""

    def type(self, keys: str) -> None:
        os.write(self._keyboard, keys.encode())

    def wait_for(self, text: str) -> str:
        """What is shown up to and with `text`; later calls look behind it."""
        deadline = time.monotonic() + SECONDS
        while text not in self.shown:
            ready, _, _ = select.select([self._keyboard], [], [], deadline - time.monotonic())
            assert ready, f"{text!r} did not appear in {self.shown!r}"
            self.shown += self._read()
        before, found, self.shown = self.shown.partition(text)
        return before + found

    def wait_until_asleep(self) -> None:
        """Until the program waits for a key, where the system tells.

        A Ctrl-C that comes after the prompt was drawn and before Python waits for a key is held
        until Enter or another Ctrl-C: `input` of Python itself does so, without any of our code.
        """
        state = Path(f"/proc/{self.process.pid}/stat")
        deadline = time.monotonic() + SECONDS
        calm = 0
        while state.exists() and calm < 3:
            assert time.monotonic() < deadline, f"never at rest, with {self.shown!r}"
            is_asleep = state.read_text().rpartition(")")[2].split()[0] == "S"
            calm = calm + 1 if is_asleep else 0
            time.sleep(0.005)

    def wait(self) -> int:
        """The exit code."""
        # A terminal whose screen is full would keep the program from ending.
        deadline = time.monotonic() + SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"still running, with {self.shown!r}"
            if select.select([self._keyboard], [], [], 0.05)[0]:
                self.shown += self._read()
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._keyboard)

    def _read(self) -> str:
        try:
            return os.read(self._keyboard, 65536).decode(errors="replace")
        except OSError:  # how Linux says that the program is gone
            return ""


@pytest.fixture
def terminals(environ: dict[str, str]) -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()


def opened(terminals: list[Terminal], environ: dict[str, str], *arguments: str) -> Terminal:
    terminals.append(Terminal(environ, *arguments))
    return terminals[-1]


# --- once -------------------------------------------------------------------------------------


def test_a_message_is_answered_by_the_demo_model_with_its_tools_in_view(
    environ: dict[str, str],
) -> None:
    done = run(environ, "chat", "What files are there?")

    assert done.returncode == 0
    assert "notes.txt" in done.stdout
    assert "demo model" in done.stderr
    assert re.search(r"^⚙ list_files  \.$", done.stderr, re.MULTILINE)
    assert re.search(r"^✓ list_files  \d+\.\d s$", done.stderr, re.MULTILINE)
    assert "\x1b" not in done.stdout + done.stderr
    assert "list_files" not in done.stdout


def test_text_on_stdin_is_a_message(environ: dict[str, str]) -> None:
    done = run(environ, "chat", typed="run `echo from a pipe`\n")

    assert done.returncode == 0
    assert "from a pipe" in done.stdout
    assert "⚙ terminal  echo from a pipe" in done.stderr


def test_an_empty_message_is_a_usage_error(environ: dict[str, str]) -> None:
    assert run(environ, "chat", typed=" \n").returncode == 2


def test_reasoning_is_shown_beside_the_answer(environ: dict[str, str]) -> None:
    model = ScriptedModel([[Reasoning("Let me think."), Text("Forty-two.")]])
    with FakeProviderThread(model) as provider:
        done = run(asking(environ, provider), "chat", "hi")

    assert done.stdout == "Forty-two.\n"
    assert "Let me think." in done.stderr
    assert f"scripted at {provider.base_url}" in done.stderr


def test_a_failed_turn_is_an_error_and_exit_code_1(environ: dict[str, str]) -> None:
    refusal = HttpError(401, {"error": {"message": "no such key"}}, {})
    with FakeProviderThread(ScriptedModel([refusal])) as provider:
        done = run(asking(environ, provider), "chat", "hi")

    assert done.returncode == 1
    assert done.stdout == ""
    assert "hermes: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_conversation_is_stored_and_continued(environ: dict[str, str]) -> None:
    model = ScriptedModel([Text("Hello Ada."), Text("Ada, of course.")])
    with FakeProviderThread(model) as provider:
        run(asking(environ, provider), "chat", "I am Ada.")
        [session] = stored(environ)
        done = run(asking(environ, provider), "chat", "--session", session["id"][:8], "Who am I?")

    assert done.stdout == "Ada, of course.\n"
    said = [message["content"] for message in model.requests[1].body["messages"][1:]]
    assert said == ["I am Ada.", "Hello Ada.", "Who am I?"]
    [session] = stored(environ)
    assert (session["source"], session["message_count"]) == ("cli", 4)


def test_an_unknown_session_is_refused(environ: dict[str, str]) -> None:
    done = run(environ, "chat", "--session", "nothing", "hi")

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("hermes: There is no session 'nothing'")


def test_what_is_stored_is_for_the_owner_alone(environ: dict[str, str]) -> None:
    run(environ, "chat", "hello")

    home = Path(environ["HERMES_HOME"])
    assert home.stat().st_mode & 0o077 == 0
    assert [path for path in home.rglob("*") if path.stat().st_mode & 0o077] == []


# --- stopped ----------------------------------------------------------------------------------


def test_an_interrupt_stops_the_model_and_exits_with_130(environ: dict[str, str]) -> None:
    with FakeProviderThread(StreamOf(10_000, " word", interval=0.02)) as provider:
        process = start(asking(environ, provider), "chat", "talk")
        assert process.stdout is not None
        assert process.stdout.read(5) == " word"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS)
        provider.wait_for_disconnects()

    assert process.returncode == 130


def test_a_terminated_chat_leaves_no_command_running(environ: dict[str, str]) -> None:
    workspace = Path(environ["HERMES_HOME"]) / "workspace"
    workspace.mkdir(parents=True)
    pipe = workspace / "pid"
    os.mkfifo(pipe)
    command = "echo $$ > pid; exec sleep 300"
    with FakeProviderThread(ScriptedModel([ToolUse("terminal", {"command": command})])) as provider:
        process = start(asking(environ, provider), "chat", "sleep")
        sleeper = int(pipe.read_text())  # opening waits for the command to write
        process.terminate()
        process.communicate(timeout=SECONDS)

    assert process.returncode == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(sleeper, 0)


def test_a_reader_who_leaves_ends_the_turn_quietly(environ: dict[str, str]) -> None:
    with FakeProviderThread(StreamOf(10_000, " word", interval=0.01)) as provider:
        process = start(asking(environ, provider), "chat", "talk")
        assert process.stdout is not None
        process.stdout.read(5)
        process.stdout.close()
        assert process.stderr is not None
        complaints = process.stderr.read()
        process.wait(SECONDS)
        process.stderr.close()
        provider.wait_for_disconnects()

    assert process.returncode == 1
    assert "Traceback" not in complaints
    assert "Error" not in complaints


# --- approvals --------------------------------------------------------------------------------


def build_of(environ: dict[str, str]) -> Path:
    return Path(environ["HERMES_HOME"]) / "workspace" / "build"


def test_where_nobody_can_be_asked_a_destructive_command_is_denied_and_that_is_said(
    environ: dict[str, str],
) -> None:
    done = run(environ, "chat", "run `rm -r build`")
    assert done.returncode == 0
    assert "nobody here to be asked" in done.stderr
    assert "rm -r build" in done.stderr
    assert "deletes files recursively" in done.stderr
    assert "was not run" in done.stdout
    assert build_of(environ).is_dir()


def test_a_person_approves_a_command_and_the_same_turn_goes_on(
    environ: dict[str, str], terminals: list[Terminal]
) -> None:
    terminal = Terminal(environ, "chat", "run `rm -r build`")
    terminals.append(terminal)
    assert "    rm -r build" in terminal.wait_for("Run it?")
    assert build_of(environ).is_dir()
    terminal.type("maybe\n")
    terminal.wait_for("Run it?")
    terminal.type("y\n")
    terminal.wait_for("approved by the user: once")
    assert terminal.process.wait(SECONDS) == 0
    assert not build_of(environ).exists()
    [session] = stored(environ)
    messages = json.loads(run(environ, "sessions", "show", session["id"], "--json").stdout)
    roles = [message["role"] for message in messages["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("key", ["n\n", CTRL_C, CTRL_D])
def test_a_person_says_no_and_nothing_is_run(
    environ: dict[str, str], terminals: list[Terminal], key: str
) -> None:
    terminal = Terminal(environ, "chat", "run `rm -r build`")
    terminals.append(terminal)
    terminal.wait_for("Run it?")
    terminal.wait_until_asleep()
    terminal.type(key)
    terminal.wait_for("was not run")
    assert terminal.process.wait(SECONDS) == 0
    assert build_of(environ).is_dir()


def test_always_is_for_the_rest_of_the_conversation(
    environ: dict[str, str], terminals: list[Terminal]
) -> None:
    terminal = Terminal(environ, "chat")
    terminals.append(terminal)
    terminal.wait_for("> ")
    terminal.type("run `rm -r build`\n")
    terminal.wait_for("Run it?")
    terminal.type("a\n")
    terminal.wait_for("approved by the user: session")
    terminal.wait_for("> ")
    terminal.type("run `rm -r build`\n")
    terminal.wait_for("approved by the user earlier")


# --- at a terminal ----------------------------------------------------------------------------


def test_a_person_talks_stops_an_answer_and_goes_on(
    environ: dict[str, str], terminals: list[Terminal]
) -> None:
    script = [Text(pieces=[" word"] * 5000, interval=0.02), Text("Second answer.")]
    model = ScriptedModel(script)
    with FakeProviderThread(model) as provider:
        person = opened(terminals, asking(environ, provider), "chat")
        person.wait_for("> ")
        person.type("talk\n")
        person.wait_for("word word")
        person.type(CTRL_C)
        person.wait_for("Interrupted.")
        provider.wait_for_disconnects()
        person.wait_for("> ")
        person.type("again\n")
        person.wait_for("Second answer.")
        person.wait_for("> ")
        person.type(CTRL_D)
        person.wait_for("To continue: ")

        assert person.wait() == 0
    said = [message["content"] for message in model.requests[1].body["messages"]]
    assert said[1] == "talk"
    assert said[2].startswith(" word")
    assert said[-1] == "again"


def test_tools_are_dim_in_a_terminal_and_plain_with_no_color(
    environ: dict[str, str], terminals: list[Terminal]
) -> None:
    coloured = opened(terminals, environ, "chat", "What files are there?")
    assert coloured.wait() == 0
    assert "\x1b[2m⚙ list_files  .\x1b[0m" in coloured.shown

    plain = opened(terminals, {**environ, "NO_COLOR": "1"}, "chat", "What files are there?")
    assert plain.wait() == 0
    assert "\n⚙ list_files  .\r\n" in plain.shown
    assert "\x1b[" not in plain.shown


def test_commands_begin_anew_help_and_quit(
    environ: dict[str, str], terminals: list[Terminal]
) -> None:
    environ = {**environ, "NO_COLOR": "1"}
    with FakeProviderThread(EchoModel()) as provider:
        person = opened(terminals, asking(environ, provider), "chat")
        for typed, shown in [
            ("/help", "begin a new conversation"),
            ("one", "one"),
            ("/nonsense", "There is no command /nonsense"),
            ("/new", "A new conversation."),
            ("/etc/hosts is what?", "/etc/hosts is what?"),
        ]:
            person.wait_for("> ")
            person.type(typed + "\n")
            person.wait_for(f"{typed}\r\n")
            person.wait_for(shown)
        person.wait_for("> ")
        person.type("/quit\n")

        assert person.wait() == 0
    assert [session["message_count"] for session in stored(environ)] == [2, 2]


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D])
def test_a_key_at_the_prompt_leaves(
    environ: dict[str, str], terminals: list[Terminal], key: str
) -> None:
    person = opened(terminals, environ, "chat")
    person.wait_for("> ")
    person.wait_until_asleep()
    person.type(key)

    assert person.wait() == 0
    assert stored(environ) == []


def test_what_was_typed_is_remembered_for_the_next_time(
    environ: dict[str, str], terminals: list[Terminal]
) -> None:
    person = opened(terminals, environ, "chat")
    person.wait_for("> ")
    person.type("/help\n")
    person.wait_for("Ctrl-C stops")
    person.wait_for("> ")
    person.type(CTRL_D)
    person.wait()

    history = Path(environ["HERMES_HOME"]) / "chat_history"
    assert "/help" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


# --- beside a running server ------------------------------------------------------------------


async def test_sessions_are_listed_and_deleted_while_the_server_runs(
    environ: dict[str, str],
) -> None:
    home = Path(environ["HERMES_HOME"])
    async with TestGateway(home=home) as gateway, aiohttp.ClientSession() as http:
        created = await http.post(f"{gateway.url}/api/sessions", json={"title": "Over HTTP"})
        session_id = (await created.json())["session"]["id"]
        listed = await asyncio.to_thread(stored, environ)
        removed = await asyncio.to_thread(run, environ, "sessions", "rm", session_id, "--yes")
        gone = await http.get(f"{gateway.url}/api/sessions/{session_id}")

    assert [session["title"] for session in listed] == ["Over HTTP"]
    assert removed.stdout == f"Deleted {session_id}.\n"
    assert gone.status == 404


def test_an_error_is_one_line_that_says_what_to_do(environ: dict[str, str]) -> None:
    store = SessionDB(Path(environ["HERMES_HOME"]) / "state.db")
    store.create_session("kept", "cli")
    store.close()
    done = run(environ, "sessions", "rm", "unknown", "--yes")

    assert done.returncode == 1
    assert done.stderr == (
        "hermes: There is no session 'unknown'; `hermes sessions list` shows them.\n"
    )
