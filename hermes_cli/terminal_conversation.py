"""One conversation with the agent in this process: its agent, its history, its stored session."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import Any

from hermes.agent.equipment import Equipment
from hermes.contract.callbacks import callbacks_for
from hermes.contract.configuration import (
    agent_keywords,
    fallback_model,
    reasoning_config,
    runtime_keywords,
)
from hermes.contract.equipping import Workshop
from hermes.contract.results import result_from
from hermes.core.approvals import ApprovalRequest, Decision, Grant
from hermes.core.events import Emit
from hermes.core.ids import new_id
from hermes.core.messages import Message
from hermes.core.turn import Outcome, Resumption, TurnParameters, TurnResult
from hermes.providers.clients import HttpClients, LoopThread
from hermes.settings.model import Settings
from hermes.settings.paths import state_db
from hermes.settings.toolsets import enabled_toolsets
from hermes_cli.terminal_sessions import find_session
from hermes_state import SessionDB
from run_agent import AIAgent

PLATFORM = "cli"
OWNER = "local"
"""Who asks, for rules about approval: nobody needs a key here."""
_LEAVE_SECONDS = 2.0
_SERVERS_SECONDS = 5.0
"""How long MCP servers are waited for: a question that is asked once should find their tools."""

Decide = Callable[[Sequence[ApprovalRequest]], Mapping[str, tuple[Decision, str]]]
"""What becomes of calls that need approval, and who says so, by their ids."""


class Conversation:
    """Turn after turn. `ask` and all else is called from the main thread."""

    def __init__(
        self, settings: Settings, store: SessionDB, clients: HttpClients, equipment: Equipment
    ) -> None:
        self._settings = settings
        self._store = store
        self._clients = clients
        self._equipment = equipment
        self._agent: AIAgent | None = None
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget what was said; the next turn begins a new session."""
        self.session_id = new_id(f"{PLATFORM}-")
        self.history: list[Message] = []
        self._grants: list[Grant] = []

    def resume(self, wanted: str) -> None:
        """Go on with a stored session; `wanted` may be the beginning of its id."""
        self.session_id = find_session(self._store, wanted)
        self.history = self._store.get_messages_as_conversation(self.session_id)

    def ask(self, message: str, emit: Emit, decide: Decide) -> TurnResult:
        """Run one turn, with pauses where something must be approved.

        The first Ctrl-C stops it, a second one is raised as KeyboardInterrupt.
        """
        model = self._settings.agent.provider.model
        self._store.create_session(self.session_id, PLATFORM, model=model)
        turn = self._run(message, emit)
        while turn.outcome is Outcome.ASKING:
            turn = self._run(message, emit, self._decided(turn, decide))
        self.history = list(turn.messages)
        return turn

    def _decided(self, turn: TurnResult, decide: Decide) -> Resumption:
        """How a turn that paused goes on."""
        decided = decide(turn.approvals)
        decisions = {call_id: decision for call_id, (decision, _) in decided.items()}
        self._grants += (
            Grant(request.tool, request.shown)
            for request in turn.approvals
            if decisions[request.call_id] is Decision.SESSION
        )
        return Resumption(
            messages=tuple(turn.messages[len(self.history) :]),
            started=frozenset(),
            decisions=decisions,
            decided_by={call_id: by for call_id, (_, by) in decided.items()},
        )

    def _run(self, message: str, emit: Emit, resumption: Resumption | None = None) -> TurnResult:
        """One leg of a turn: to its end, or to a question."""
        self._agent = self._new_agent(emit, resumption)
        answer = _in_thread(self._agent, message, self.history)
        try:
            result = self._wait_for(answer)
        finally:
            self._make_sure_it_ends(answer)
        return result_from(result, result)

    def interrupt(self) -> None:
        """Stop the running turn, if there is one; from any thread."""
        if self._agent is not None:
            self._agent.interrupt("Interrupted.")

    def _wait_for(self, answer: Future[dict[str, Any]]) -> dict[str, Any]:
        try:
            return answer.result()
        except KeyboardInterrupt:
            self.interrupt()
            return answer.result()

    def _make_sure_it_ends(self, answer: Future[dict[str, Any]]) -> None:
        """Whoever leaves in the middle of a turn leaves no command running behind them."""
        if not answer.done():
            self.interrupt()
            wait([answer], timeout=_LEAVE_SECONDS)

    def _new_agent(self, emit: Emit, resumption: Resumption | None) -> AIAgent:
        agent = self._settings.agent
        parameters = TurnParameters(
            can_ask=True, grants=tuple(self._grants), resumption=resumption, owner=OWNER
        )
        return AIAgent(
            **agent_keywords(
                runtime=runtime_keywords(agent, self._settings.approvals),
                toolsets=enabled_toolsets(self._settings.raw, PLATFORM),
                model=agent.provider.model,
                reasoning_config=reasoning_config(agent),
                fallback_model=fallback_model(agent),
                session_id=self.session_id,
                session_db=self._store,
                clients=lambda: self._clients,
                parameters=parameters,
                equipment=self._equipment,
                alias=None,
                of_key=None,
                **callbacks_for(emit).as_keywords(),
            )
        )


@contextmanager
def open_conversation(settings: Settings) -> Iterator[Conversation]:
    """A new conversation; its store and connections are closed at the end of the block."""
    store = SessionDB(state_db(settings.home))
    thread = LoopThread()
    clients = HttpClients(thread.loop)
    workshop = Workshop(lambda: settings, lambda: store)
    workshop.mcp.wait(_SERVERS_SECONDS)
    try:
        workshop.recover()
        yield Conversation(settings, store, clients, workshop.equipment)
    finally:
        workshop.close()
        thread.run(clients.close())
        thread.close()
        store.close()


def _in_thread(agent: AIAgent, message: str, history: list[Message]) -> Future[dict[str, Any]]:
    """Let the agent answer beside the main thread, where Ctrl-C arrives."""
    answer: Future[dict[str, Any]] = Future()

    def work() -> None:
        try:
            answer.set_result(agent.run_conversation(message, history))
        except BaseException as error:  # noqa: BLE001  handed to the thread that waits for it
            answer.set_exception(error)

    # A daemon: a tool that hangs in the operating system must not keep the program from ending.
    threading.Thread(target=work, name="turn", daemon=True).start()
    return answer
