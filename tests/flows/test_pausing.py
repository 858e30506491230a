"""A turn pauses for an approval, its process may die, and another agent goes on with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes.contract.results import result_from
from hermes.core.approvals import Decision
from hermes.core.events import Event, MessageKept
from hermes.core.messages import UNKNOWN_OUTCOME, Message
from hermes.core.run_link import Steer
from hermes.core.turn import Outcome, Resumption, TurnParameters, TurnResult
from hermes.providers.clients import HttpClients, LoopThread
from hermes.settings.model import ApprovalSettings
from hermes.store.sessions import SessionDB
from hermes.testing.fake_provider_thread import FakeProviderThread
from hermes.testing.replies import Text, ToolUse
from hermes.testing.scripted import ScriptedModel
from run_agent import AIAgent

every_dialect = pytest.mark.parametrize(
    "api_mode", ["chat_completions", "codex_responses", "anthropic_messages"]
)
DELETE = ToolUse("terminal", {"command": "rm -r build"})


class Link:
    """A run that is kept in memory."""

    run_id = "run_1"

    def barrier(self) -> None: ...

    def take_steers(self) -> list[Steer]:
        return []

    def end_steering(self) -> list[Steer]:
        return []


@pytest.fixture
def clients() -> Iterator[HttpClients]:
    thread = LoopThread()
    pool = HttpClients(thread.loop)
    yield pool
    thread.run(pool.close())
    thread.close()


class Turn:
    """One turn in several legs, each with an agent of its own, as after a restart."""

    def __init__(self, provider: FakeProviderThread, clients: HttpClients, folder: Path) -> None:
        self._provider = provider
        self._clients = clients
        self._folder = folder
        self.workspace = folder / "workspace"
        (self.workspace / "build").mkdir(parents=True)
        self.kept: list[Message] = []

    def run(self, api_mode: str, resumption: Resumption | None = None) -> TurnResult:
        is_anthropic = api_mode == "anthropic_messages"
        store = SessionDB(self._folder / "state.db")
        agent = AIAgent(
            model="m",
            api_mode=api_mode,
            base_url=self._provider.origin if is_anthropic else self._provider.base_url,
            api_key="key",
            workspace=self.workspace,
            clients=lambda: self._clients,
            approvals=ApprovalSettings(),
            parameters=TurnParameters(can_ask=True, resumption=resumption),
            run_link=Link(),
            session_id="s1",
            session_db=store,
            event_callback=self._on_event,
        )
        told = agent.run_conversation("Clean up.")
        store.close()
        return result_from(told, told)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, MessageKept):
            # A log is written as JSON, and read again by another process.
            self.kept.append(json.loads(json.dumps(event.message)))

    def so_far(self, **fields: Any) -> Resumption:
        fields = {"started": frozenset(), **fields}
        return Resumption(messages=tuple(self.kept), steps=len(self.kept), **fields)

    def stored(self) -> list[str]:
        store = SessionDB(self._folder / "state.db")
        roles = [message["role"] for message in store.get_messages("s1")]
        store.close()
        return roles


@every_dialect
def test_an_approved_turn_goes_on_with_another_agent(
    api_mode: str, clients: HttpClients, tmp_path: Path
) -> None:
    model = ScriptedModel([DELETE, Text("It is gone.")])
    with FakeProviderThread(model) as provider:
        turn = Turn(provider, clients, tmp_path)
        paused = turn.run(api_mode)
        assert paused.outcome is Outcome.ASKING
        assert (turn.workspace / "build").is_dir()
        [request] = paused.approvals
        ended = turn.run(api_mode, turn.so_far(decisions={request.call_id: Decision.ONCE}))
    assert (ended.outcome, ended.text) == (Outcome.COMPLETED, "It is gone.")
    assert not (turn.workspace / "build").exists()
    assert turn.kept == [*ended.messages]
    assert "[approved by the user: once]" in str(model.last_request.messages)
    assert turn.stored() == ["user", "assistant", "tool", "assistant"]


@every_dialect
def test_a_tool_that_was_begun_before_a_crash_is_not_run_again(
    api_mode: str, clients: HttpClients, tmp_path: Path
) -> None:
    model = ScriptedModel([DELETE, Text("I do not know whether it is gone.")])
    with FakeProviderThread(model) as provider:
        turn = Turn(provider, clients, tmp_path)
        [request] = turn.run(api_mode).approvals
        decided = {request.call_id: Decision.ONCE}
        begun = frozenset({request.call_id})
        ended = turn.run(api_mode, turn.so_far(decisions=decided, started=begun))
    assert ended.outcome is Outcome.COMPLETED
    assert (turn.workspace / "build").is_dir()
    assert UNKNOWN_OUTCOME in str(model.last_request.messages)
    assert turn.stored() == ["user", "assistant", "tool", "assistant"]


def test_a_step_that_the_session_has_already_is_not_stored_twice(
    clients: HttpClients, tmp_path: Path
) -> None:
    """The process died after the session was written, before the log said how far it had come."""
    with FakeProviderThread(ScriptedModel([Text("One."), Text("Two.")])) as provider:
        turn = Turn(provider, clients, tmp_path)
        turn.run("chat_completions")
        first = Resumption(messages=tuple(turn.kept[:1]), started=frozenset(), steps=1)
        turn.run("chat_completions", first)
    assert turn.stored() == ["user", "assistant"]
