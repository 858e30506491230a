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
from hermes.core.turn import TurnCall, TurnResult
from hermes.fibers import run_in_fiber
from hermes.runs.feed import Feed
from hermes.runs.threads import Threads
from hermes.runs.turns import AgentRef, RunningTurns, interrupt

Pair = tuple[dict[str, Any], dict[str, Any]]
RunAgent = Callable[..., Awaitable[Pair]]

_TOKENS = frozenset({"input_tokens", "output_tokens", "total_tokens"})


async def run_turn(
    ask: RunAgent, call: TurnCall, feed: Feed | None, agent_ref: AgentRef
) -> TurnResult:
    """Run a turn through the contract's `_run_agent`, which is only ever called with keywords."""
    keywords = NO_CALLBACKS if feed is None else _keywords(feed)
    result, usage = await ask(
        user_message=call.user_message,
        conversation_history=list(call.history),
        ephemeral_system_prompt=call.system_prompt,
        session_id=call.session_id,
        gateway_session_key=call.session_key,
        agent_ref=agent_ref,
        parameters=call.parameters,
        **keywords,
    )
    return result_from(result, usage)


def _keywords(feed: Feed) -> dict[str, Any]:
    """What an agent needs to fill the feed. Only a turn that is kept has a link to its run."""
    keywords: dict[str, Any] = NO_CALLBACKS.copy()
    if not feed.is_quiet:
        keywords = callbacks_for(feed.put).as_keywords()
    keywords["event_callback"] = feed.tell
    if not feed.wants_text:
        keywords |= {"stream_delta_callback": None, "reasoning_callback": None}
    if feed.run_id is not None:
        keywords["run_id"] = feed.run_id
    return keywords if feed.link is None else keywords | {"run_link": feed.link}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTurn:
    """One turn of one agent, from building it to its answer."""

    create_agent: Callable[[], Any]
    creation_blocks: bool
    question: Mapping[str, Any]
    agent_ref: AgentRef
    threads: Threads
    running: RunningTurns

    async def run(self) -> Pair:
        """The agent's result and usage, from the loop if it can stand there, else from a thread.

        Cancelling this coroutine interrupts the agent, which then ends its turn in order.
        """
        build = self._build
        agent = await self.threads.run(build) if self.creation_blocks else build()
        self.agent_ref[0] = agent
        answer = partial(self._answer, agent)
        if isinstance(agent, Cooperative) and agent.can_share_the_loop():
            with self.running.tracked(self.agent_ref):
                return await run_in_fiber(answer, self.threads.run, self._leave)
        return await self._in_thread(answer)

    def _build(self) -> Any:
        self.running.admit()
        return self.create_agent()

    def _answer(self, agent: Any) -> Pair:
        if self.running.is_hurried:
            agent.interrupt("The turn was stopped before it began.")
        result = agent.run_conversation(**self.question)
        return _named_session(result, agent), _usage_of(agent, result)

    def _leave(self) -> None:
        interrupt(self.agent_ref, "The caller left")

    async def _in_thread(self, answer: Callable[[], Pair]) -> Pair:
        """A thread cannot be made to end: whoever is cancelled leaves it behind, interrupted."""

        async def turn() -> Pair:
            with self.running.tracked(self.agent_ref):
                return await self.threads.run(answer)

        task = asyncio.get_running_loop().create_task(turn())
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._leave()
            # Nobody waits for it any more; that it may end with an error is nobody's surprise.
            task.add_done_callback(_forget)
            raise


def _forget(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


def _named_session(result: dict[str, Any], agent: Any) -> dict[str, Any]:
    session_id = getattr(agent, "session_id", None)
    if isinstance(session_id, str) and session_id:
        result.setdefault("session_id", session_id)
    return result


def _usage_of(agent: Any, result: Mapping[str, Any]) -> dict[str, Any]:
    """The turn's, as the agent tells it: with its sub-agents, and from its very beginning.

    An agent of another make may only know what it has used in all.
    """
    if result.keys() >= _TOKENS:
        return {name: result[name] for name in _TOKENS}
    return {
        "input_tokens": agent.session_prompt_tokens,
        "output_tokens": agent.session_completion_tokens,
        "total_tokens": agent.session_total_tokens,
    }
