"""From a call to an agent at work and back; whoever leaves stops the agent he started."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import MagicMock

import pytest

from hermes.agent.cooperation import Cooperative
from hermes.contract.running import AgentTurn, run_turn
from hermes.core.errors import Unavailable
from hermes.core.events import TextDelta
from hermes.core.run_link import Steer
from hermes.core.turn import TurnCall, TurnParameters, TurnResult, Usage
from hermes.fibers import blocking, is_in_fiber, wait_in_fiber
from hermes.runs.feed import Feed
from hermes.runs.threads import Threads
from hermes.runs.turns import RunningTurns

WAIT = 5.0
QUESTION = {"user_message": "hi", "conversation_history": [], "task_id": "s1"}


class FakeAgent:
    """Runs until it is interrupted, or answers at once."""

    session_prompt_tokens = 1
    session_completion_tokens = 2
    session_total_tokens = 3

    def __init__(self, *, waits: bool = False, session_id: Any = "s1") -> None:
        self.session_id = session_id
        self.reasons: list[str] = []
        self.questions: list[dict[str, Any]] = []
        self.began = threading.Event()
        self.interrupted = threading.Event()
        self.ended = threading.Event()
        self._waits = waits

    def run_conversation(self, **question: Any) -> dict[str, Any]:
        self.questions.append(question)
        self.began.set()
        if self._waits:
            assert self.interrupted.wait(WAIT)
        self.ended.set()
        return {"final_response": "hello"}

    def interrupt(self, reason: str) -> None:
        self.reasons.append(reason)
        self.interrupted.set()


@pytest.fixture
def threads() -> Iterator[Threads]:
    pool = Threads("turn", limit=1)
    yield pool
    pool.close()


def start(
    threads: Threads,
    create_agent: Callable[[], Any],
    *,
    creation_blocks: bool = True,
    running: RunningTurns | None = None,
    agent_ref: list[Any] | None = None,
) -> asyncio.Task[Any]:
    return asyncio.create_task(
        AgentTurn(
            create_agent=create_agent,
            creation_blocks=creation_blocks,
            question=QUESTION,
            agent_ref=[None] if agent_ref is None else agent_ref,
            threads=threads,
            running=RunningTurns() if running is None else running,
        ).run()
    )


async def test_the_agent_is_asked_exactly_the_question_and_gives_the_pair(
    threads: Threads,
) -> None:
    agent, agent_ref = FakeAgent(), [None]
    pair = await asyncio.wait_for(start(threads, lambda: agent, agent_ref=agent_ref), WAIT)
    assert pair == (
        {"final_response": "hello", "session_id": "s1"},
        {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
    )
    assert agent.questions == [QUESTION]
    assert agent_ref == [agent]


@pytest.mark.parametrize("session_id", [None, "", 7, MagicMock()])
async def test_a_session_id_that_is_no_name_is_not_passed_on(
    threads: Threads, session_id: Any
) -> None:
    agent = FakeAgent(session_id=session_id)
    result, _ = await asyncio.wait_for(start(threads, lambda: agent), WAIT)
    assert "session_id" not in result


async def test_what_the_agent_itself_says_about_its_session_stands(threads: Threads) -> None:
    agent = FakeAgent(session_id="other")
    agent.run_conversation = lambda **_: {"session_id": "its own"}  # type: ignore[method-assign]
    result, _ = await asyncio.wait_for(start(threads, lambda: agent), WAIT)
    assert result == {"session_id": "its own"}


async def test_cancelling_interrupts_the_agent_and_its_thread_ends(threads: Threads) -> None:
    agent, running = FakeAgent(waits=True), RunningTurns()
    turn = start(threads, lambda: agent, running=running)
    assert await asyncio.to_thread(agent.began.wait, WAIT)
    assert len(running) == 1
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert await asyncio.to_thread(agent.ended.wait, WAIT)
    assert agent.reasons == ["The caller left"]
    await running.drain(WAIT)
    assert len(running) == 0


async def test_an_agent_that_is_still_being_built_when_its_caller_leaves_never_begins(
    threads: Threads,
) -> None:
    agent = FakeAgent(waits=True)
    building, go = threading.Event(), threading.Event()

    def create_agent() -> FakeAgent:
        building.set()
        assert go.wait(WAIT)
        return agent

    turn = start(threads, create_agent)
    assert await asyncio.to_thread(building.wait, WAIT)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    go.set()
    await threads.run(lambda: None)  # the only thread is through with building
    assert not agent.began.is_set()


async def test_a_turn_cancelled_while_it_queues_for_a_thread_never_begins(
    threads: Threads,
) -> None:
    first = FakeAgent(waits=True)
    built: list[str] = []
    occupied = start(threads, lambda: first)
    assert await asyncio.to_thread(first.began.wait, WAIT)
    queued = start(threads, lambda: built.append("second"))
    await asyncio.sleep(0)
    queued.cancel()
    with pytest.raises(asyncio.CancelledError):
        await queued
    first.interrupt("enough")
    await asyncio.wait_for(occupied, WAIT)
    await threads.run(lambda: None)  # the only thread is through with everything before this
    assert built == []


async def test_a_turn_counts_as_running_until_its_thread_is_through(threads: Threads) -> None:
    agent, running = FakeAgent(waits=True), RunningTurns()
    agent.interrupt = agent.reasons.append  # type: ignore[method-assign]
    turn = start(threads, lambda: agent, running=running)
    assert await asyncio.to_thread(agent.began.wait, WAIT)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert len(running) == 1
    agent.interrupted.set()
    await running.drain(WAIT)
    assert len(running) == 0


async def test_a_turn_whose_agent_is_built_after_the_hurry_is_interrupted(
    threads: Threads,
) -> None:
    agent, running = FakeAgent(waits=True), RunningTurns()
    running.hurry()
    await asyncio.wait_for(start(threads, lambda: agent, running=running), WAIT)
    assert agent.reasons == ["The turn was stopped before it began."]


class LoopAgent(FakeAgent, Cooperative):
    """Notes which thread carried it; may wait for the loop, which a thread could not bear."""

    def __init__(self, *, shares: bool = True) -> None:
        super().__init__()
        self.carriers: list[int] = []
        self._shares = shares

    def can_share_the_loop(self) -> bool:
        return self._shares

    def run_conversation(self, **question: Any) -> dict[str, Any]:
        self.carriers.append(threading.get_ident())
        if is_in_fiber():
            wait_in_fiber(lambda: asyncio.sleep(0))
        self.carriers.append(blocking(threading.get_ident))
        return super().run_conversation(**question)


async def test_an_agent_that_can_share_the_loop_needs_no_thread(threads: Threads) -> None:
    agent = LoopAgent()
    await asyncio.wait_for(start(threads, lambda: agent, creation_blocks=False), WAIT)
    here = threading.get_ident()
    assert agent.carriers[0] == here
    assert agent.carriers[1] != here, "what blocks still goes to a thread"


async def test_an_agent_that_cannot_share_the_loop_gets_a_thread(threads: Threads) -> None:
    agent = LoopAgent(shares=False)
    await asyncio.wait_for(start(threads, lambda: agent), WAIT)
    assert threading.get_ident() not in agent.carriers


async def test_an_agent_that_cannot_be_built_is_the_callers_error(threads: Threads) -> None:
    running = RunningTurns()
    with pytest.raises(ZeroDivisionError):
        await start(threads, lambda: 1 // 0, running=running)
    assert len(running) == 0


async def test_a_draining_server_builds_no_agent(threads: Threads) -> None:
    running = RunningTurns()
    await running.drain(grace=0)
    built: list[str] = []
    with pytest.raises(Unavailable):
        await start(threads, lambda: built.append("agent"), running=running)
    assert built == []


CALL = TurnCall(
    user_message="hi",
    history=({"role": "user", "content": "before"},),
    system_prompt="Be brief.",
    session_id="s1",
    session_key="k1",
    parameters=TurnParameters(persist=True),
)


async def test_a_turn_passes_every_keyword_and_turns_callbacks_into_events() -> None:
    seen: dict[str, Any] = {}

    async def ask(**keywords: Any) -> Any:
        seen.update(keywords)
        keywords["stream_delta_callback"]("hello")
        return {"final_response": "hello"}, {"total_tokens": 3}

    feed, agent_ref = Feed(), [None]
    result = await run_turn(ask, CALL, feed, agent_ref)
    assert result == TurnResult(text="hello", messages=[], usage=Usage(total_tokens=3))
    assert await feed.take() == [TextDelta("hello")]
    callbacks = {name: seen.pop(name) for name in list(seen) if name.endswith("_callback")}
    assert seen == {
        "user_message": "hi",
        "conversation_history": [{"role": "user", "content": "before"}],
        "ephemeral_system_prompt": "Be brief.",
        "session_id": "s1",
        "gateway_session_key": "k1",
        "agent_ref": agent_ref,
        "parameters": CALL.parameters,
    }
    assert len(callbacks) == 7
    assert all(callable(callback) for callback in callbacks.values())


async def test_a_turn_nobody_watches_has_no_callbacks() -> None:
    seen: dict[str, Any] = {}

    async def ask(**keywords: Any) -> Any:
        seen.update(keywords)
        return {"final_response": "hello"}, {}

    await run_turn(ask, CALL, None, [None])
    callbacks = [value for name, value in seen.items() if name.endswith("_callback")]
    assert callbacks == [None] * 7


class StubLink:
    run_id = "run_1"

    def barrier(self) -> None: ...

    def take_steers(self) -> list[Steer]:
        return []

    def end_steering(self) -> list[Steer]:
        return []


async def test_a_kept_turn_has_a_link_to_its_run_and_may_want_the_answer_as_a_whole() -> None:
    class KeptFeed(Feed):
        link = StubLink()
        wants_text = False

    seen: dict[str, Any] = {}

    async def ask(**keywords: Any) -> Any:
        seen.update(keywords)
        return {"final_response": "hello"}, {}

    await run_turn(ask, CALL, KeptFeed(), [None])
    assert seen["run_link"] is KeptFeed.link
    unset = {name for name, value in seen.items() if name.endswith("_callback") and value is None}
    assert unset == {"stream_delta_callback", "reasoning_callback"}
