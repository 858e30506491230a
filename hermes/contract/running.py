"""From a `TurnCall` to an agent at work and back: what stands behind the adapter's `_run_agent`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from hermes.agent.cooperation import Cooperative
from hermes.contract.callbacks import NO_CALLBACKS, callbacks_for
from hermes.contract.results import result_from
from hermes.core.errors import Interrupted
from hermes.core.turn import TurnCall, TurnResult
from hermes.fibers import run_in_fiber
from hermes.runs.feed import Feed
from hermes.runs.threads import Threads
from hermes.runs.turns import AgentRef, RunningTurns, interrupt

Pair = tuple[dict[str, Any], dict[str, Any]]
RunAgent = Callable[..., Awaitable[Pair]]


async def run_turn(
    ask: RunAgent, call: TurnCall, feed: Feed | None, agent_ref: AgentRef
) -> TurnResult:
    """Run a turn through the contract's `_run_agent`, which is only ever called with keywords."""
    callbacks = NO_CALLBACKS if feed is None else callbacks_for(feed.put)
    result, usage = await ask(
        user_message=call.user_message,
        conversation_history=list(call.history),
        ephemeral_system_prompt=call.system_prompt,
        session_id=call.session_id,
        gateway_session_key=call.session_key,
        agent_ref=agent_ref,
        parameters=call.parameters,
        **callbacks.as_keywords(),
    )
    return result_from(result, usage)


@dataclass(slots=True, kw_only=True)
class AgentTurn:
    """One turn of one agent, from building it to its answer."""

    create_agent: Callable[[], Any]
    creation_blocks: bool
    question: Mapping[str, Any]
    agent_ref: AgentRef
    threads: Threads
    running: RunningTurns
    _is_abandoned: bool = False

    async def run(self) -> Pair:
        """The agent's result and usage.

        Cancelling this coroutine interrupts the agent, which then ends its turn in order.
        """
        task = asyncio.get_running_loop().create_task(self._turn())
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._is_abandoned = True
            interrupt(self.agent_ref, "The caller left")
            # Nobody waits for it any more; that it may end with an error is nobody's surprise.
            task.add_done_callback(_forget)
            raise

    async def _turn(self) -> Pair:
        with self.running.tracked(self.agent_ref):
            build = self._build
            agent = await self.threads.run(build) if self.creation_blocks else build()
            self.agent_ref[0] = agent
            if self._is_abandoned or self.running.is_hurried:
                agent.interrupt("The turn was stopped before it began.")
            result = await self._answer(agent)
            return _named_session(result, agent), _usage_of(agent)

    def _build(self) -> Any:
        if self._is_abandoned:
            raise Interrupted("The caller left before the turn began.")
        return self.create_agent()

    async def _answer(self, agent: Any) -> dict[str, Any]:
        """On the loop, if the agent says that it can stand there; else in a thread."""
        answer = partial(agent.run_conversation, **self.question)
        if isinstance(agent, Cooperative) and agent.can_share_the_loop():
            return await run_in_fiber(answer, self.threads.run)
        return await self.threads.run(answer)


def _forget(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


def _named_session(result: dict[str, Any], agent: Any) -> dict[str, Any]:
    session_id = getattr(agent, "session_id", None)
    if isinstance(session_id, str) and session_id:
        result.setdefault("session_id", session_id)
    return result


def _usage_of(agent: Any) -> dict[str, Any]:
    return {
        "input_tokens": agent.session_prompt_tokens,
        "output_tokens": agent.session_completion_tokens,
        "total_tokens": agent.session_total_tokens,
    }
