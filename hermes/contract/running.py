"""From a `TurnCall` to an agent at work and back: what stands behind the adapter's `_run_agent`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hermes.contract.callbacks import NO_CALLBACKS, callbacks_for
from hermes.contract.results import result_from
from hermes.core.turn import TurnCall, TurnResult
from hermes.runs.feed import Feed
from hermes.runs.threads import Threads
from hermes.runs.turns import AgentRef, RunningTurns, interrupt

Pair = tuple[dict[str, Any], dict[str, Any]]
RunAgent = Callable[..., Awaitable[Pair]]


async def run_turn(
    run_agent: RunAgent, call: TurnCall, feed: Feed | None, agent_ref: AgentRef
) -> TurnResult:
    """Run a turn through the contract's `_run_agent`, which is only ever called with keywords."""
    callbacks = NO_CALLBACKS if feed is None else callbacks_for(feed.put)
    result, usage = await run_agent(
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


async def run_agent_in_thread(
    *,
    create_agent: Callable[[], Any],
    question: Mapping[str, Any],
    agent_ref: AgentRef | None,
    threads: Threads,
    running: RunningTurns,
) -> Pair:
    """Build the agent and let it answer `question` in a thread of its own.

    Cancelling this coroutine interrupts the agent; the thread ends as soon as it notices.
    """
    ref: AgentRef = [None] if agent_ref is None else agent_ref
    is_cancelled = threading.Event()

    def work() -> Pair:
        agent = create_agent()
        ref[0] = agent
        if is_cancelled.is_set():
            agent.interrupt("The caller left before the turn began")
        result = agent.run_conversation(**question)
        return _named_session(result, agent), _usage_of(agent)

    with running.tracked(ref):
        try:
            return await threads.run(work)
        except asyncio.CancelledError:
            is_cancelled.set()
            interrupt(ref, "The caller left")
            raise


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
