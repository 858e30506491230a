"""The agent against a provider on a real socket: every dialect, every fault, every interrupt."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes.providers.clients import HttpClients, LoopThread
from hermes.testing.fake_provider_thread import FakeProviderThread
from hermes.testing.replies import Broken, Finish, HttpError, Reasoning, Reply, Text, ToolUse
from hermes.testing.scripted import Model, ScriptedModel, StreamOf
from hermes_state import SessionDB
from run_agent import AIAgent

WAIT = 5.0
KEY = "the-key-of-this-test"
ROOT = Path(__file__).parents[2]
DIALECTS = ("chat_completions", "codex_responses", "anthropic_messages")

every_dialect = pytest.mark.parametrize("api_mode", DIALECTS)


@pytest.fixture
def clients() -> Iterator[HttpClients]:
    """Connections on a loop of their own, closed when the test ends."""
    thread = LoopThread()
    pool = HttpClients(thread.loop)
    yield pool
    thread.run(pool.close())
    thread.close()


class Watched:
    """An agent at work for one provider, and everything it tells."""

    def __init__(
        self, provider: FakeProviderThread, clients: HttpClients, folder: Path, **options: Any
    ) -> None:
        self.workspace = folder / "workspace"
        self.shown: list[str] = []
        self.thoughts: list[str] = []
        self.tools: list[tuple[Any, ...]] = []
        self.notices: list[str] = []
        self.first_words = threading.Event()
        self.tool_began = threading.Event()
        is_anthropic = options.get("api_mode") == "anthropic_messages"
        self.agent = AIAgent(
            **{
                "model": "m",
                "base_url": provider.origin if is_anthropic else provider.base_url,
                "api_key": KEY,
                "workspace": self.workspace,
                "clients": lambda: clients,
                "stream_delta_callback": self._on_delta,
                "reasoning_callback": self.thoughts.append,
                "tool_start_callback": self._on_tool,
                "tool_complete_callback": lambda *call: self.tools.append(call),
                "notice_callback": lambda code, _message: self.notices.append(code),
                **options,
            }
        )
        self.told: dict[str, Any] = {}

    def ask(self, question: str = "Hi.") -> dict[str, Any]:
        self.told = self.agent.run_conversation(question)
        return self.told

    def ask_in_thread(self) -> threading.Thread:
        thread = threading.Thread(target=self.ask)
        thread.start()
        return thread

    @property
    def text(self) -> str:
        return "".join(self.shown)

    def _on_delta(self, text: str | None) -> None:
        if text is not None:
            self.shown.append(text)
            self.first_words.set()

    def _on_tool(self, *_call: Any) -> None:
        self.tool_began.set()


Start = Callable[..., tuple[Watched, FakeProviderThread]]


@pytest.fixture
def start(clients: HttpClients, tmp_path: Path) -> Iterator[Start]:
    """Starts a provider with a script and an agent that asks it."""
    providers: list[FakeProviderThread] = []

    def started(*script: Reply, model: Model | None = None, **options: Any) -> Any:
        provider = FakeProviderThread(model or ScriptedModel(script))
        provider.__enter__()
        providers.append(provider)
        return Watched(provider, clients, tmp_path, **options), provider

    yield started
    for provider in providers:
        provider.__exit__(None, None, None)


def gone_within_a_second(thread: threading.Thread, asked: float) -> None:
    thread.join(WAIT)
    assert not thread.is_alive()
    assert time.monotonic() - asked < 1.0


# --- what goes well -------------------------------------------------------------------------------


@every_dialect
def test_an_answer_is_shown_as_it_was_said_and_counted(start: Start, api_mode: str) -> None:
    watched, _ = start([Reasoning("Let me think"), Text("Hello there, friend")], api_mode=api_mode)
    told = watched.ask()
    assert (told["final_response"], told["outcome"]) == ("Hello there, friend", "completed")
    assert watched.text == "Hello there, friend"
    assert "".join(watched.thoughts) == "Let me think"
    assert watched.agent.session_completion_tokens == told["output_tokens"] == 6
    assert watched.agent.session_prompt_tokens == told["input_tokens"] > 0
    assert watched.agent.session_total_tokens == told["input_tokens"] + 6


@every_dialect
def test_a_tool_is_run_for_real_and_its_result_sent_back(start: Start, api_mode: str) -> None:
    def reply(request: Any) -> Reply:
        requests.append(request)
        if len(requests) == 1:
            return [
                Text("Writing."),
                ToolUse("write_file", {"path": "a.txt", "content": "forty-two"}),
                ToolUse("terminal", {"command": "cat a.txt"}),
            ]
        return Text("Done.")

    requests: list[Any] = []
    watched, _ = start(model=ScriptedModel(reply), api_mode=api_mode)
    told = watched.ask()
    assert told["final_response"] == "Done."
    assert (watched.workspace / "a.txt").read_text() == "forty-two"
    assert [call[1] for call in watched.tools] == ["write_file", "terminal"]
    assert "forty-two" in watched.tools[1][3]
    sent_back = str(requests[1].body)
    assert "forty-two\\n[exit code 0]" in sent_back or "forty-two\n[exit code 0]" in sent_back
    assert told["api_calls"] == 2


@every_dialect
def test_a_turn_nobody_watches_says_the_same(start: Start, api_mode: str) -> None:
    watched, _ = start(
        ToolUse("list_files", {"path": "."}),
        Text("Nothing here."),
        api_mode=api_mode,
        stream_delta_callback=None,
        reasoning_callback=None,
    )
    told = watched.ask()
    assert (told["final_response"], told["outcome"]) == ("Nothing here.", "completed")
    assert told["output_tokens"] == 3


@every_dialect
def test_an_answer_cut_at_its_length_is_not_a_success(start: Start, api_mode: str) -> None:
    watched, _ = start([Text("Half an ans"), Finish("length")], api_mode=api_mode)
    told = watched.ask()
    assert (told["outcome"], told["completed"]) == ("truncated", False)
    assert told["final_response"] == "Half an ans"


def test_the_connection_is_used_again_for_the_next_call(start: Start) -> None:
    watched, provider = start(ToolUse("list_files"), Text("Nothing."))
    assert watched.ask()["completed"]
    assert (provider.requests_seen, provider.connections_made) == (2, 1)


# --- what goes wrong ------------------------------------------------------------------------------


@every_dialect
@pytest.mark.parametrize("how", ["reset", "eof", "garbage", "error_event"])
def test_an_answer_that_breaks_off_is_kept_never_repeated_and_never_a_success(
    start: Start, api_mode: str, how: Any
) -> None:
    watched, provider = start(
        Broken(after="Half an ans", how=how), Text("never asked for"), api_mode=api_mode
    )
    told = watched.ask()
    assert (told["outcome"], told["failed"], told["completed"]) == ("failed", True, False)
    assert told["final_response"] == watched.text == "Half an ans"
    assert told["error"].startswith("The answer broke off: ")
    assert provider.requests_seen == 1


@every_dialect
@pytest.mark.parametrize("how", ["reset", "eof"])
def test_a_connection_lost_before_any_text_is_simply_tried_again(
    start: Start, api_mode: str, how: Any
) -> None:
    watched, provider = start(Broken(how=how), Text("Hello."), api_mode=api_mode)
    assert watched.ask()["final_response"] == watched.text == "Hello."
    assert provider.requests_seen == 2


@every_dialect
def test_a_tool_call_that_breaks_off_is_not_run(start: Start, api_mode: str) -> None:
    half = Broken(after=[Text("Let me."), ToolUse("write_file", {"path": "a", "content": "b"})])
    watched, _ = start(half, api_mode=api_mode)
    told = watched.ask()
    assert told["failed"]
    assert "the action was not executed" in watched.text
    assert watched.tools == []
    assert not (watched.workspace / "a").exists()


@every_dialect
def test_a_rate_limit_is_waited_for_and_told(start: Start, api_mode: str) -> None:
    slow_down = HttpError(429, {"error": {"message": "slow down"}}, {"Retry-After": "0"})
    watched, provider = start(slow_down, slow_down, Text("Hello."), api_mode=api_mode)
    assert watched.ask()["final_response"] == "Hello."
    assert watched.notices == ["provider_retry"] * 2
    assert provider.requests_seen == 3


@every_dialect
def test_a_refused_key_fails_at_once_and_says_so_without_naming_it(
    start: Start, api_mode: str
) -> None:
    body = {"error": {"message": f"Incorrect API key provided: {KEY}", "type": "auth"}}
    watched, provider = start(HttpError(401, body), api_mode=api_mode)
    told = watched.ask()
    assert (told["outcome"], told["final_response"]) == ("failed", "")
    assert "401: Incorrect API key" in told["error"]
    assert KEY not in str(told)
    assert provider.requests_seen == 1


def test_an_error_page_is_not_an_answer(start: Start) -> None:
    watched, _ = start(HttpError(400, "<html><h1>It broke</h1></html>"))
    told = watched.ask()
    assert (told["failed"], told["final_response"]) == (True, "")


def test_a_provider_that_cannot_stream_is_asked_in_one_piece(start: Start) -> None:
    def reply(request: Any) -> Reply:
        if request.wants_stream:
            message = "Streaming is not supported for this model"
            return HttpError(400, {"error": {"message": message}})
        return Text("Hello.")

    watched, provider = start(model=ScriptedModel(reply))
    told = watched.ask()
    assert (told["final_response"], told["outcome"]) == ("Hello.", "completed")
    assert watched.shown == ["Hello."]
    assert provider.requests_seen == 2


def test_the_fallback_answers_in_its_own_dialect(start: Start, clients: HttpClients) -> None:
    def reply(request: Any) -> Reply:
        return Text("Hello.") if request.dialect == "anthropic" else HttpError(401, {})

    _, provider = start(model=ScriptedModel(reply))
    watched, _ = start(
        HttpError(401, {}),
        fallback_model={
            "model": "second",
            "base_url": provider.origin,
            "api_mode": "anthropic_messages",
        },
    )
    assert watched.ask()["final_response"] == "Hello."
    assert watched.notices == ["provider_fallback"]


def test_a_stalled_stream_is_cut_and_what_was_said_is_kept(start: Start) -> None:
    watched, provider = start(Broken(after="Half an", how="stall"), stale_seconds=0.2)
    told = watched.ask()
    assert (told["outcome"], told["final_response"]) == ("failed", "Half an")
    provider.wait_for_disconnects(within=1.0)


# --- interrupts -----------------------------------------------------------------------------------


@every_dialect
def test_an_interrupt_stops_a_streaming_call_and_the_provider_notices(
    start: Start, api_mode: str
) -> None:
    watched, provider = start(model=StreamOf(10_000, " word", 0.01), api_mode=api_mode)
    turn = watched.ask_in_thread()
    assert watched.first_words.wait(WAIT)
    asked = time.monotonic()
    watched.agent.interrupt("Enough")
    gone_within_a_second(turn, asked)
    provider.wait_for_disconnects(within=1.0)
    told = watched.told
    assert (told["outcome"], told["error"]) == ("interrupted", "Enough")
    assert told["final_response"] == watched.text
    assert told["messages"][-1]["content"] == watched.text


@pytest.mark.parametrize("is_watched", [True, False])
def test_an_interrupt_stops_a_call_that_has_not_answered_at_all(
    start: Start, is_watched: bool
) -> None:
    unwatched = {"stream_delta_callback": None, "reasoning_callback": None}
    watched, provider = start(Broken(how="stall"), **({} if is_watched else unwatched))
    turn = watched.ask_in_thread()
    provider.wait_for_requests()
    asked = time.monotonic()
    watched.agent.interrupt("Enough")
    gone_within_a_second(turn, asked)
    provider.wait_for_disconnects(within=1.0)
    assert watched.told["outcome"] == "interrupted"


def test_an_interrupt_stops_a_running_command_and_its_process_group(start: Start) -> None:
    command = "echo $$ > started; exec sleep 90"
    watched, provider = start(ToolUse("terminal", {"command": command, "timeout": 120}))
    pipe = named_pipe(watched.workspace / "started")
    turn = watched.ask_in_thread()
    group = int(pipe.read_text())
    asked = time.monotonic()
    watched.agent.interrupt("Enough")
    gone_within_a_second(turn, asked)
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)
    assert (watched.told["outcome"], watched.told["error"]) == ("interrupted", "Enough")
    assert "interrupted" in watched.tools[0][3]
    assert provider.requests_seen == 1


def named_pipe(path: Path) -> Path:
    """Reading it waits until a command has written to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    return path


# --- what is kept ---------------------------------------------------------------------------------


def test_every_step_is_in_the_database_before_the_next_begins(start: Start, tmp_path: Path) -> None:
    database = SessionDB(tmp_path / "state.db")
    at_requests: list[list[str]] = []
    at_tools: list[list[str]] = []

    def roles() -> list[str]:
        return [message["role"] for message in database.get_messages("s1")]

    def reply(_: Any) -> Reply:
        at_requests.append(roles())
        return Text("Done.") if len(at_requests) == 2 else [one_alone] * 2

    # Calls that may run beside each other begin together; this one never does.
    one_alone = ToolUse("terminal", {"command": "true"})

    watched, _ = start(
        model=ScriptedModel(reply),
        session_id="s1",
        session_db=database,
        tool_start_callback=lambda *_: at_tools.append(roles()),
    )
    told = watched.ask()
    assert at_requests == [["user"], ["user", "assistant", "tool", "tool"]]
    assert at_tools == [["user", "assistant"], ["user", "assistant", "tool"]]
    kept = database.get_messages_as_conversation("s1")
    database.close()
    told_as_kept = [
        {key: value for key, value in message.items() if key != "tool_name"}
        for message in told["messages"]
    ]
    assert kept == told_as_kept


_CHILD = """
import sys
from pathlib import Path
from hermes_state import SessionDB
from run_agent import AIAgent
base_url, folder = sys.argv[1], Path(sys.argv[2])
agent = AIAgent(model="m", base_url=base_url, workspace=folder / "workspace",
                session_id="s1", session_db=SessionDB(folder / "state.db"))
agent.run_conversation("Hi.")
"""


def test_a_killed_process_leaves_every_finished_step_behind(tmp_path: Path) -> None:
    script = ScriptedModel(
        [
            ToolUse("write_file", {"path": "a.txt", "content": "first"}, id="one"),
            ToolUse("terminal", {"command": "echo $$ > started; exec sleep 90"}, id="two"),
        ]
    )
    pipe = named_pipe(tmp_path / "workspace" / "started")
    with FakeProviderThread(script) as provider:
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, provider.base_url, str(tmp_path)], cwd=ROOT
        )
        group = int(pipe.read_text())
        child.kill()
        child.wait(WAIT)
        os.killpg(group, signal.SIGKILL)
    database = SessionDB(tmp_path / "state.db")
    kept = database.get_messages("s1")
    database.close()
    assert [message["role"] for message in kept] == ["user", "assistant", "tool", "assistant"]
    assert kept[2]["tool_call_id"] == "one"
    assert kept[3]["tool_calls"][0]["id"] == "two"


# --- what an agent costs --------------------------------------------------------------------------

_BUILD_MANY = """
import sys, threading, time
from pathlib import Path
from run_agent import AIAgent

opened = []
sys.addaudithook(lambda name, _: opened.append(name) if name.startswith(("socket.", "open")) else 0)

def build():
    return AIAgent(model="m", base_url="http://localhost:1/v1", api_key="k",
                   workspace=Path(sys.argv[1]), stream_delta_callback=print)

def milliseconds_each():
    began = time.perf_counter()
    for _ in range(200):
        build()
    return (time.perf_counter() - began) * 1000 / 200

print(min(milliseconds_each() for _ in range(5)), len(opened), threading.active_count())
"""


def test_building_an_agent_takes_no_time_no_socket_no_file_and_no_thread(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-c", _BUILD_MANY, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    milliseconds, opened, threads = map(float, built.stdout.split())
    assert (opened, threads) == (0, 1)
    assert milliseconds < 1.0


def test_many_agents_at_once_share_one_loop_and_none_gets_anothers_words(
    clients: HttpClients, tmp_path: Path
) -> None:
    def reply(request: Any) -> Reply:
        return Text(f"You said {request.last_user_text}")

    with FakeProviderThread(ScriptedModel(reply)) as provider:
        crowd = [Watched(provider, clients, tmp_path) for _ in range(20)]

        async def all_at_once() -> list[dict[str, Any]]:
            asked = [
                asyncio.to_thread(watched.ask, f"word{number}")
                for number, watched in enumerate(crowd)
            ]
            return await asyncio.gather(*asked)

        told = asyncio.run(all_at_once())
    assert [each["final_response"] for each in told] == [
        f"You said word{number}" for number in range(20)
    ]
    assert [watched.text for watched in crowd] == [each["final_response"] for each in told]
