"""The lives of runs: whatever happens on the way, each ends, and everybody who waits is told."""

from __future__ import annotations

import asyncio

import pytest

from hermes.core.approvals import ApprovalRequest, Decision
from hermes.core.errors import Conflict, Interrupted, InvalidRequest, Unavailable
from hermes.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    MessageKept,
    Notice,
    RunQueued,
    RunStarted,
    TextDelta,
    ToolStarted,
    TurnEnded,
    TurnPaused,
)
from hermes.core.run_link import Steer
from hermes.core.runs import (
    CANCEL,
    DETACH,
    Disconnect,
    Idempotency,
    NewRun,
    RunStatus,
    WhenBusy,
)
from hermes.core.turn import Failure, Outcome, TurnResult
from hermes.runs import endings, supervisor
from hermes.runs.live_run import Cause
from hermes.runs.run_feed import RunFeed
from hermes.store.errors import StoreUnusable
from tests.unit.runs.fakes import WAIT, Engine, FakeAgent, FakeWork, engine, outcome_of, until

FULL = StoreUnusable("runs.db", "cannot grow", "Free some disk space and try again")
KEY = Idempotency(key="k", scope="s", fingerprint="f")


def question(call_id: str = "c1") -> ApprovalRequest:
    return ApprovalRequest(
        id=f"appr_{call_id}",
        code="ABCDE",
        call_id=call_id,
        tool="terminal",
        arguments={},
        shown="rm -rf /",
        reason="It deletes.",
        expires_at=4e9,
    )


def asking() -> FakeAgent:
    result = TurnResult(text="May I?", outcome=Outcome.ASKING, approvals=(question(),))
    kept = MessageKept({"role": "user", "content": "Hello"})
    return FakeAgent(result=result, events=(kept, ApprovalRequested(question())))


def patient(**wanted: object) -> FakeAgent:
    return FakeAgent(gate=asyncio.Event(), **wanted)  # type: ignore[arg-type]


def statuses(under: Engine, *run_ids: str) -> list[RunStatus]:
    return [under.stored(run_id).status for run_id in run_ids]


async def at_work(under: Engine, run_id: str) -> None:
    await until(lambda: (live := under.runs.live(run_id)) is not None and live.agent_ref != [None])


def assert_all_given_back(under: Engine) -> None:
    """Nothing is held for runs that are over."""
    assert len(under.gate) == 0
    turnstile = under.runs._turnstile
    assert (turnstile._at_work, turnstile._held, dict(turnstile._waiting)) == ({}, {}, {})
    assert under.runs._live == {}


# --- from beginning to end ----------------------------------------------------------------------


async def test_a_run_is_logged_answered_and_stored() -> None:
    async with engine() as under:
        work = FakeWork()
        under.agents = [FakeAgent(events=(TextDelta("Hello there"),))]
        begun = await under.submit(work, session_id="s")
        run = await under.ended(begun)
        assert (run.status, run.output) == (RunStatus.COMPLETED, "Hello there")
        assert work.told == ["call", "begin", "end"]
        events = under.events(run.id)
        assert isinstance(events[0], RunStarted)
        assert TextDelta("Hello there") in events
        assert isinstance(events[-1], TurnEnded)
        assert [each.seq for each in under.log(run.id)] == list(range(1, len(events) + 1))
        [ending] = work.endings
        assert await ending.read_leg() == under.log(run.id)[:-1]
        assert ending.at == under.log(run.id)[-1].at
        await until(lambda: not under.runs._tasks)
        assert_all_given_back(under)


async def test_whoever_watches_sees_the_log_as_it_is_read_later() -> None:
    async with engine() as under:
        words = tuple(TextDelta(f"{number} ") for number in range(50))
        under.agents = [FakeAgent(events=words)]
        begun = await under.submit()
        seen = await under.watched(begun.run.id, TurnEnded)
        assert seen == under.log(begun.run.id)


@pytest.mark.parametrize(
    ("agent", "status", "code"),
    [
        (FakeAgent(error=ValueError("Boo.")), RunStatus.FAILED, "agent_error"),
        (FakeAgent(error=asyncio.CancelledError()), RunStatus.INTERRUPTED, None),
        (
            FakeAgent(
                result=TurnResult(
                    outcome=Outcome.FAILED, error="No.", failure=Failure(code="rate_limited")
                )
            ),
            RunStatus.FAILED,
            "rate_limited",
        ),
        (FakeAgent(result=TurnResult(outcome=Outcome.TRUNCATED)), RunStatus.COMPLETED, None),
    ],
)
async def test_an_agent_may_end_as_it_likes(
    agent: FakeAgent, status: RunStatus, code: str | None
) -> None:
    async with engine() as under:
        under.agents = [agent]
        run = await under.ended(await under.submit(session_id="s"))
        assert run.status is status
        assert (run.error or {}).get("code") == code
        assert isinstance(under.events(run.id)[-1], TurnEnded)
        assert (await under.ended(await under.submit(session_id="s"))).status.is_final


async def test_a_request_that_cannot_be_begun_is_refused_to_whoever_waits() -> None:
    async with engine() as under:
        refusal = InvalidRequest("There is no such response.", code="response_not_found")
        for step in ("call", "begin"):
            begun = await under.submit(FakeWork(failing={step: refusal}), session_id="s")
            assert begun.live is not None
            assert await outcome_of(begun.live.leg) is refusal
            run = under.stored(begun.run.id)
            assert run.status is RunStatus.FAILED
            assert (run.error or {})["code"] == "response_not_found"
        assert (await under.ended(await under.submit(session_id="s"))).status.is_final


async def test_a_refused_request_may_be_made_again_under_its_key() -> None:
    async with engine() as under:
        refusal = InvalidRequest("No.")
        begun = await under.submit(FakeWork(failing={"call": refusal}), idempotency=KEY)
        await under.ended(begun)
        again = await under.submit(idempotency=KEY)
        assert not again.is_replayed
        assert (await under.ended(again)).status is RunStatus.COMPLETED


async def test_the_same_request_made_again_is_the_same_run() -> None:
    async with engine() as under:
        under.agents = [patient()]
        gate = under.agents[0].gate
        first = await under.submit(idempotency=KEY)
        second = await under.submit(idempotency=KEY)
        assert (second.run.id, second.is_replayed) == (first.run.id, True)
        assert second.live is first.live
        assert gate is not None
        gate.set()
        await under.ended(first)
        third = await under.submit(idempotency=KEY)
        assert (third.live, third.is_replayed) == (None, True)


# --- stopping -----------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["call", "begin"])
async def test_a_run_that_is_stopped_while_it_is_prepared_never_reaches_the_agent(
    step: str,
) -> None:
    async with engine() as under:
        release = asyncio.Event()
        work = FakeWork(held={step: release})
        begun = await under.submit(work, session_id="s")
        await until(lambda: step in work.told)
        stopping = asyncio.create_task(under.runs.stop(begun.run.id))
        await until(lambda: begun.live is not None and begun.live.cause is not None)
        release.set()
        run = await asyncio.wait_for(stopping, WAIT)
        assert run is not None
        assert run.status is RunStatus.CANCELLED
        assert under.calls == []
        assert [ending.status for ending in work.endings] == [RunStatus.CANCELLED]


async def test_a_running_agent_is_interrupted_and_what_it_said_is_kept() -> None:
    async with engine() as under:
        agent = patient(
            events=(TextDelta("So far"),),
            result=TurnResult(text="So far", outcome=Outcome.INTERRUPTED),
        )
        under.agents = [agent]
        begun = await under.submit()
        await at_work(under, begun.run.id)
        run = await under.runs.stop(begun.run.id)
        assert run is not None
        assert (run.status, run.output) == (RunStatus.CANCELLED, "So far")
        assert agent.interrupted == [Cause.STOPPED.value]
        assert (run.error or {})["message"] == Cause.STOPPED.value


@pytest.mark.parametrize("heeds_cancel", [True, False])
async def test_an_agent_that_does_not_listen_is_cut_off_or_left_behind(
    heeds_cancel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes.runs.live_run.STOP_SECONDS", 0.02)
    async with engine() as under:
        agent = patient(heeds_interrupt=False, heeds_cancel=heeds_cancel)
        under.agents = [agent]
        begun = await under.submit(session_id="s")
        await at_work(under, begun.run.id)
        run = await asyncio.wait_for(under.runs.stop(begun.run.id), WAIT)
        assert run is not None
        assert run.status is RunStatus.CANCELLED
        assert (await under.ended(await under.submit(session_id="s"))).status.is_final
        assert agent.gate is not None
        agent.gate.set()


async def test_an_agent_that_raises_when_it_is_interrupted_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hermes.runs.live_run.STOP_SECONDS", 0.02)

    class Rude(FakeAgent):
        def interrupt(self, reason: str) -> None:
            raise ValueError(reason)

    async with engine() as under:
        under.agents = [Rude(gate=asyncio.Event())]
        begun = await under.submit()
        await at_work(under, begun.run.id)
        run = await asyncio.wait_for(under.runs.stop(begun.run.id), WAIT)
        assert run is not None
        assert run.status is RunStatus.CANCELLED


async def test_what_an_agent_says_after_it_was_left_behind_harms_no_other_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hermes.runs.live_run.STOP_SECONDS", 0.02)
    async with engine() as under:
        under.agents = [patient(heeds_interrupt=False), patient()]
        begun, other = await under.submit(), await under.submit()
        await at_work(under, begun.run.id)
        await at_work(under, other.run.id)
        assert begun.live is not None
        feed = begun.live.feed
        assert isinstance(feed, RunFeed)
        await under.runs.stop(begun.run.id)
        before = under.log(begun.run.id)
        assert other.live is not None
        assert other.live.feed is not None
        for _ in range(20):
            feed.put(TextDelta("late"))
            other.live.feed.put(TextDelta("fine"))
        with pytest.raises(Interrupted):
            feed.run_link.barrier()
        await under.runs.stop(other.run.id)
        assert under.log(begun.run.id) == before
        said = [e.text for e in under.events(other.run.id) if isinstance(e, TextDelta)]
        assert "".join(said) == "fine" * 20


async def test_a_queued_run_is_stopped_and_whoever_waits_is_told() -> None:
    async with engine(room=1) as under:
        under.agents = [patient()]
        first = await under.submit()
        await at_work(under, first.run.id)
        work = FakeWork()
        second = await under.submit(work)
        assert second.live is not None
        await asyncio.wait_for(second.live.ready, WAIT)
        assert under.runs.place(second.run.id) == 1
        run = await under.runs.stop(second.run.id)
        assert run is not None
        assert run.status is RunStatus.CANCELLED
        result = await outcome_of(second.live.leg)
        assert isinstance(result, TurnResult)
        assert result.outcome is Outcome.INTERRUPTED
        assert len(work.endings) == 1
        assert isinstance(under.events(second.run.id)[-1], TurnEnded)
        await under.runs.stop(first.run.id)
        await until(lambda: not under.runs._tasks)
        assert_all_given_back(under)


async def test_a_run_that_was_cancelled_in_the_store_while_it_waited_tells_whoever_waits() -> None:
    """By another process, or between the store's answer and this one's next step."""
    async with engine(room=1) as under:
        under.agents = [patient()]
        gate = under.agents[0].gate
        first = await under.submit()
        await at_work(under, first.run.id)
        work = FakeWork()
        second = await under.submit(work)
        under.store.store.request_stop(second.run.id)
        assert gate is not None
        gate.set()
        assert second.live is not None
        result = await outcome_of(second.live.leg)
        assert isinstance(result, TurnResult)
        assert result.outcome is Outcome.INTERRUPTED
        assert len(work.endings) == 1


async def test_a_stop_that_comes_just_after_the_end_changes_nothing() -> None:
    async with engine() as under:
        release = asyncio.Event()
        work = FakeWork()
        begun = await under.submit(work)
        assert begun.live is not None
        await asyncio.wait_for(begun.live.leg, WAIT)
        under.runs._live[begun.run.id] = begun.live  # not yet put down
        run = await under.runs.stop(begun.run.id)
        release.set()
        assert run is not None
        assert run.status is RunStatus.COMPLETED
        assert [ending.status for ending in work.endings] == [RunStatus.COMPLETED]
        del under.runs._live[begun.run.id]


async def test_a_stop_while_the_answer_is_stored_leaves_a_whole_answer_whole() -> None:
    async with engine() as under:
        release = asyncio.Event()
        work = FakeWork(held={"end": release})
        begun = await under.submit(work)
        await until(lambda: "end" in work.told)
        stopping = asyncio.create_task(under.runs.stop(begun.run.id))
        await until(lambda: under.stored(begun.run.id).is_stop_requested)
        release.set()
        run = await asyncio.wait_for(stopping, WAIT)
        assert run is not None
        assert run.status is RunStatus.COMPLETED


async def test_a_run_that_was_stopped_does_not_begin_to_wait_for_a_decision() -> None:
    async with engine() as under:
        agent = asking()
        agent.gate = asyncio.Event()
        under.agents = [agent]
        begun = await under.submit(session_id="s")
        await at_work(under, begun.run.id)
        run = await under.runs.stop(begun.run.id)
        assert run is not None
        assert run.status is RunStatus.CANCELLED
        assert (await under.ended(await under.submit(session_id="s"))).status.is_final


async def test_a_stop_while_a_question_is_stored_ends_the_run_and_frees_the_session() -> None:
    async with engine() as under:
        release = asyncio.Event()
        work = FakeWork(held={"end": release})
        under.agents = [asking()]
        begun = await under.submit(work, session_id="s")
        await until(lambda: "end" in work.told)
        stopping = asyncio.create_task(under.runs.stop(begun.run.id))
        await until(lambda: under.stored(begun.run.id).is_stop_requested)
        release.set()
        run = await asyncio.wait_for(stopping, WAIT)
        assert run is not None
        assert run.status is RunStatus.CANCELLED
        assert (await under.ended(await under.submit(session_id="s"))).status.is_final


async def test_an_agent_is_stopped_even_when_the_store_cannot_say_so() -> None:
    async with engine() as under:
        agent = patient()
        under.agents = [agent]
        begun = await under.submit()
        await at_work(under, begun.run.id)
        under.store.failing["request_stop"] = [FULL]
        with pytest.raises(StoreUnusable):
            await under.runs.stop(begun.run.id)
        assert agent.interrupted
        assert (await under.ended(begun)).status.is_final


async def test_there_is_nothing_to_stop_in_a_run_that_does_not_exist() -> None:
    async with engine() as under:
        assert await under.runs.stop("run_none") is None


async def test_a_run_that_takes_too_long_fails_and_says_so() -> None:
    async with engine() as under:
        under.agents = [patient(result=TurnResult(outcome=Outcome.INTERRUPTED))]
        run = await under.ended(await under.submit(timeout=0.02))
        assert run.status is RunStatus.FAILED
        assert (run.error or {})["code"] == "run_timeout"


# --- viewers that leave -------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [CANCEL, Disconnect(0.01)])
async def test_a_run_whose_last_viewer_left_is_stopped_by_its_policy(policy: Disconnect) -> None:
    async with engine() as under:
        under.agents = [patient(result=TurnResult(outcome=Outcome.INTERRUPTED))]
        begun = await under.submit(disconnect=policy)
        await at_work(under, begun.run.id)
        assert begun.live is not None
        begun.live.joined()
        begun.live.joined()
        begun.live.left(policy)
        await asyncio.sleep(0)
        assert begun.live.cause is None, "somebody is still there"
        begun.live.left(policy)
        run = await under.ended(begun)
        assert run.status is RunStatus.CANCELLED
        assert (run.error or {})["message"] == Cause.CLIENT_LEFT.value


async def test_a_viewer_that_comes_back_in_time_keeps_the_run_alive() -> None:
    async with engine() as under:
        under.agents = [patient()]
        begun = await under.submit(disconnect=Disconnect(60.0))
        await at_work(under, begun.run.id)
        assert begun.live is not None
        begun.live.joined()
        begun.live.left(Disconnect(60.0))
        assert begun.live._grace is not None
        begun.live.joined()
        assert begun.live._grace is None
        begun.live.left(DETACH)
        assert begun.live.cause is None


@pytest.mark.parametrize("policy", [CANCEL, DETACH])
async def test_a_client_that_leaves_while_it_asks_leaves_no_run_behind_that_nobody_carries(
    policy: Disconnect,
) -> None:
    async with engine() as under:
        asking_for = asyncio.create_task(under.submit(session_id="s", disconnect=policy))
        await asyncio.sleep(0)
        asking_for.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking_for
        await until(lambda: not under.runs._tasks)
        run = under.stored("run_1")
        assert run.status.is_final
        if policy is DETACH:
            assert run.status is RunStatus.COMPLETED
        after = await under.submit(session_id="s")
        assert (await under.ended(after)).status is RunStatus.COMPLETED


# --- sessions -----------------------------------------------------------------------------------


async def test_runs_of_a_session_follow_one_another() -> None:
    async with engine() as under:
        under.agents = [patient(), patient()]
        gates = [agent.gate for agent in under.agents]
        first, second = await under.submit(session_id="s"), await under.submit(session_id="s")
        await at_work(under, first.run.id)
        assert statuses(under, "run_1", "run_2") == [RunStatus.RUNNING, RunStatus.QUEUED]
        assert len(under.calls) == 1
        for gate, begun in zip(gates, (first, second), strict=True):
            await at_work(under, begun.run.id)
            assert gate is not None
            gate.set()
            await under.ended(begun)
        assert statuses(under, "run_1", "run_2") == [RunStatus.COMPLETED] * 2


async def test_whoever_waits_in_a_queue_is_told_the_place() -> None:
    async with engine(room=1) as under:
        under.agents = [patient()]
        first = await under.submit()
        await at_work(under, first.run.id)
        second = await under.submit()
        following = under.runs.follow(second.run.id, after=0)
        third = await under.submit()
        watching = under.runs.follow(third.run.id, after=0)
        assert third.live is not None
        await asyncio.wait_for(third.live.ready, WAIT)
        await under.runs.stop(first.run.id)
        seen = await asyncio.wait_for(watching.take(), WAIT)
        assert isinstance(seen[0].event, RunQueued | RunStarted)
        following.close()
        watching.close()


async def test_a_newer_request_takes_the_place_of_the_one_at_work() -> None:
    async with engine() as under:
        under.agents = [patient(result=TurnResult(outcome=Outcome.INTERRUPTED))]
        first = await under.submit(session_id="s")
        await at_work(under, first.run.id)
        second = await under.submit(session_id="s", when_busy=WhenBusy.INTERRUPT)
        assert (await under.ended(second)).status is RunStatus.COMPLETED
        run = await under.ended(first)
        assert run.status is RunStatus.CANCELLED
        assert (run.error or {})["message"] == Cause.SUPERSEDED.value


async def test_requests_that_want_to_be_first_at_once_do_not_wait_for_each_other_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The store may have the second one come first when the first has passed the turnstile."""
    monkeypatch.setattr(supervisor, "LOOK_AGAIN_SECONDS", 0.01)
    async with engine() as under:
        wanted = {"session_id": "s", "when_busy": WhenBusy.INTERRUPT}
        begun = await asyncio.gather(*(under.submit(**wanted) for _ in range(6)))
        runs = [await under.ended(each) for each in begun]
        assert all(run.status.is_final for run in runs)
        await until(lambda: not under.runs._tasks)
        assert_all_given_back(under)


# --- questions ----------------------------------------------------------------------------------


async def go_on(under: Engine, run_id: str, decision: Decision = Decision.ONCE) -> None:
    request = question()
    assert under.store.store.decide(request.id, decision, by="client")
    decided = ApprovalDecided(request.id, request.call_id, decision, "client")
    under.runs.go_on(
        under.stored(run_id),
        FakeWork(),
        from_status=RunStatus.WAITING_FOR_APPROVAL,
        opening=[decided],
    )


async def test_a_run_that_asks_goes_on_with_the_decision_in_the_same_log() -> None:
    async with engine() as under:
        under.agents = [asking()]
        begun = await under.submit(session_id="s")
        run = await under.ended(begun)
        assert run.status is RunStatus.WAITING_FOR_APPROVAL
        assert len(under.gate) == 0
        await go_on(under, run.id)
        seen = await under.watched(run.id, TurnEnded)
        kinds = [type(each.event) for each in seen]
        pause = kinds.index(TurnPaused)
        assert kinds[pause + 1 : pause + 3] == [ApprovalDecided, RunStarted]
        assert [each.seq for each in seen] == list(range(1, len(seen) + 1))
        resumption = under.calls[-1].parameters.resumption
        assert resumption is not None
        assert resumption.decisions == {"c1": Decision.ONCE}
        assert under.stored(run.id).status is RunStatus.COMPLETED


async def test_a_decision_reaches_its_run_although_others_of_the_session_wait_behind_it() -> None:
    async with engine() as under:
        under.agents = [asking()]
        first = await under.submit(session_id="s")
        await under.ended(first)
        second = await under.submit(session_id="s")
        assert second.live is not None
        await asyncio.wait_for(second.live.ready, WAIT)
        await go_on(under, first.run.id)
        assert (await under.ended(second)).status is RunStatus.COMPLETED
        assert under.stored(first.run.id).status is RunStatus.COMPLETED


async def test_a_run_that_waits_for_a_decision_is_stopped_and_the_next_one_begins() -> None:
    async with engine() as under:
        under.agents = [asking()]
        first = await under.submit(session_id="s")
        await under.ended(first)
        second = await under.submit(session_id="s")
        run = await under.runs.stop(first.run.id)
        assert run is not None
        assert run.status is RunStatus.CANCELLED
        assert (await under.ended(second)).status is RunStatus.COMPLETED


async def test_a_turn_from_memory_that_has_to_ask_can_go_on_as_a_kept_run() -> None:
    async with engine() as under:
        new = NewRun(id="run_asked", kind="chat", owner="me")
        said = [{"role": "user", "content": "Hello"}]
        await under.runs.keep_paused(new, [TextDelta("One moment.")], said, asking().result)
        assert under.stored("run_asked").status is RunStatus.WAITING_FOR_APPROVAL
        await go_on(under, "run_asked")
        await under.watched("run_asked", TurnEnded)
        resumption = under.calls[-1].parameters.resumption
        assert resumption is not None
        assert list(resumption.messages) == said
        # Whoever followed it before it was kept finds the same numbers.
        assert under.events("run_asked")[:2] == [RunStarted(1), TextDelta("One moment.")]


# --- steering -----------------------------------------------------------------------------------


async def test_words_for_a_running_agent_reach_it_or_are_said_to_be_lost() -> None:
    async with engine() as under:
        under.agents = [patient()]
        gate = under.agents[0].gate
        begun = await under.submit()
        heard = await under.runs.steer(begun.run.id, "To the left")
        unheard = await under.runs.steer(begun.run.id, "To the right")
        assert begun.live is not None
        assert begun.live.feed is not None
        assert begun.live.feed.run_link.take_steers() == [
            Steer(heard.id, "To the left"),
            Steer(unheard.id, "To the right"),
        ]
        await under.runs.steer(begun.run.id, "Stop!")
        assert gate is not None
        gate.set()
        await under.ended(begun)
        notices = [each for each in under.events(begun.run.id) if isinstance(each, Notice)]
        assert [notice.code for notice in notices] == ["steer_refused"]
        assert "Stop!" in notices[0].message


async def test_what_an_agent_did_not_hear_before_it_asked_it_hears_when_it_goes_on() -> None:
    async with engine() as under:
        agent = asking()
        agent.gate = asyncio.Event()
        under.agents = [agent, patient()]
        begun = await under.submit()
        await at_work(under, begun.run.id)
        steer = await under.runs.steer(begun.run.id, "To the left")
        agent.gate.set()
        await under.ended(begun)
        assert not any(isinstance(each, Notice) for each in under.events(begun.run.id))
        await go_on(under, begun.run.id)
        await at_work(under, begun.run.id)
        live = under.runs.live(begun.run.id)
        assert live is not None
        assert live.feed is not None
        assert live.feed.run_link.take_steers() == [steer]


async def test_nobody_can_steer_what_is_over_or_waits() -> None:
    async with engine(room=1) as under:
        under.agents = [patient()]
        first = await under.submit()
        await at_work(under, first.run.id)
        second = await under.submit()
        assert second.live is not None
        await asyncio.wait_for(second.live.ready, WAIT)
        for run_id in (second.run.id, "run_none"):
            with pytest.raises(Conflict) as caught:
                await under.runs.steer(run_id, "Left")
            assert caught.value.code == "run_not_steerable"


# --- stores that fail ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call", ["take_up", "grants", "finish", "get", "read", "forget_key", "append"]
)
@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("error", [FULL, RuntimeError("a bug")])
async def test_whatever_the_store_refuses_once_the_run_ends_and_the_session_goes_on(
    call: str, is_late: bool, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endings, "TRY_AGAIN_SECONDS", 0.01)
    monkeypatch.setattr("hermes.runs.log_writer.RETRY_SECONDS", 0.01)
    async with engine() as under:
        if is_late and call in ("finish", "append"):
            under.store.is_late.add(call)
        under.store.failing[call] = [error]
        begun = await under.submit(session_id="s")
        assert begun.live is not None
        await outcome_of(begun.live.leg)
        under.store.failing.clear()
        after = await under.submit(session_id="s")
        assert (await under.ended(after)).status is RunStatus.COMPLETED
        run = under.stored(begun.run.id)
        assert run.status.is_final
        assert isinstance(under.events(run.id)[-1], TurnEnded)


async def test_an_end_that_cannot_be_stored_is_stored_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endings, "TRY_AGAIN_SECONDS", 0.01)
    async with engine() as under:
        under.store.failing["finish"] = [FULL] * 4
        work = FakeWork()
        begun = await under.submit(work, session_id="s")
        assert begun.live is not None
        refusal = await outcome_of(begun.live.leg)
        assert isinstance(refusal, Unavailable)
        assert refusal.code == "run_store_unavailable"
        second = await under.submit(session_id="s")
        assert (await under.ended(second)).status is RunStatus.COMPLETED
        run = under.stored(begun.run.id)
        assert run.status is RunStatus.FAILED
        assert (run.error or {})["code"] == "run_not_stored"
        assert work.endings[-1].status is RunStatus.FAILED


async def test_a_log_that_cannot_be_written_stops_its_agent() -> None:
    async with engine() as under:
        agent = patient(result=TurnResult(outcome=Outcome.INTERRUPTED))
        under.agents = [agent]
        begun = await under.submit(session_id="s")
        await at_work(under, begun.run.id)
        await until(lambda: under.log(begun.run.id) != [])
        under.store.failing["append"] = [RuntimeError("a bug")]
        assert begun.live is not None
        assert begun.live.feed is not None
        begun.live.feed.put(TextDelta("lost"))
        refusal = await outcome_of(begun.live.leg)
        assert isinstance(refusal, Unavailable)
        assert agent.interrupted == [Cause.NOT_STORED.value]
        after = await under.submit(session_id="s")
        assert (await under.ended(after)).status is RunStatus.COMPLETED
        assert under.stored(begun.run.id).status is RunStatus.FAILED


async def test_a_process_that_lost_its_runs_to_another_touches_them_no_more() -> None:
    async with engine() as under:
        agent = patient(result=TurnResult(outcome=Outcome.INTERRUPTED))
        under.agents = [agent]
        begun = await under.submit(session_id="s")
        await at_work(under, begun.run.id)
        await until(lambda: under.log(begun.run.id) != [])
        store = under.store.store
        store.register("another", lease_seconds=30.0)  # the lone process of a home now
        store._worker = "the first"  # type: ignore[attr-defined]
        assert begun.live is not None
        assert begun.live.feed is not None
        begun.live.feed.put(TextDelta("not mine"))
        assert isinstance(await outcome_of(begun.live.leg), Unavailable)
        await until(lambda: not under.runs._tasks)
        assert under.stored(begun.run.id).status is RunStatus.RUNNING
        assert_all_given_back(under)


@pytest.mark.parametrize("step", ["wait", "call", "begin", "end"])
async def test_a_route_that_fails_does_not_leave_its_run_at_work(step: str) -> None:
    async with engine(room=1) as under:
        under.agents = [patient()]
        gate = under.agents[0].gate
        first = await under.submit()
        await at_work(under, first.run.id)
        begun = await under.submit(FakeWork(failing={step: RuntimeError("a bug")}), session_id="s")
        assert gate is not None
        gate.set()
        assert begun.live is not None
        assert isinstance(await outcome_of(begun.live.leg), Unavailable)
        after = await under.submit(session_id="s")
        assert (await under.ended(after)).status is RunStatus.COMPLETED
        assert under.stored(begun.run.id).status in (RunStatus.FAILED, RunStatus.CANCELLED)


# --- the end of the process ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("recovery", "status"),
    [("interrupt", RunStatus.INTERRUPTED), ("resume", RunStatus.QUEUED)],
)
async def test_a_run_that_is_interrupted_by_the_end_of_the_process(
    recovery: str, status: RunStatus
) -> None:
    async with engine(recovery=recovery) as under:
        kept = MessageKept({"role": "user", "content": "Hello"})
        agent = patient(events=(kept,), result=TurnResult(outcome=Outcome.INTERRUPTED))
        under.agents = [agent]
        begun = await under.submit(session_id="s")
        await at_work(under, begun.run.id)
        under.is_closing = True
        agent.interrupt("The gateway is shutting down")
        await under.ended(begun)
        await under.runs.close()
        assert under.stored(begun.run.id).status is status
        assert begun.live is not None
        answer = await outcome_of(begun.live.leg)
        if recovery == "resume":
            assert isinstance(answer, Unavailable)
            assert answer.code == "draining"
            assert kept in under.events(begun.run.id)


async def test_what_a_foreign_agent_has_done_is_not_done_again_by_the_next_process() -> None:
    async with engine(recovery="resume") as under:
        agent = patient(
            events=(ToolStarted("c1", "terminal", {}),),
            result=TurnResult(outcome=Outcome.INTERRUPTED),
        )
        under.agents = [agent]
        begun = await under.submit()
        await at_work(under, begun.run.id)
        under.is_closing = True
        agent.interrupt("The gateway is shutting down")
        assert (await under.ended(begun)).status is RunStatus.INTERRUPTED


async def test_what_waits_when_the_process_ends_is_left_for_the_next_one() -> None:
    async with engine(room=1) as under:
        agent = patient(result=TurnResult(outcome=Outcome.INTERRUPTED))
        under.agents = [agent]
        first = await under.submit()
        await at_work(under, first.run.id)
        second = await under.submit()
        new = NewRun(id="run_3", kind="chat", owner="me")
        third = under.runs.go_on(under.store.store.submit(new).run, FakeWork())
        agent.interrupt("The gateway is shutting down")
        await under.runs.close()  # before the third one could do anything at all
        assert statuses(under, "run_1") == [RunStatus.INTERRUPTED]
        assert statuses(under, "run_2", "run_3") == [RunStatus.QUEUED] * 2
        assert second.live is not None
        for waiting in (second.live.leg, third.leg):
            refusal = await outcome_of(waiting)
            assert isinstance(refusal, Unavailable)
            assert refusal.code == "draining"


async def test_an_agent_that_never_ends_does_not_hold_up_the_end_of_the_process() -> None:
    async with engine() as under:
        under.agents = [patient(heeds_interrupt=False)]
        begun = await under.submit()
        await at_work(under, begun.run.id)
        await asyncio.wait_for(under.runs.close(within=0.05), WAIT)
        assert under.stored(begun.run.id).status is RunStatus.RUNNING, "an orphan to be found"
        assert begun.live is not None
        assert isinstance(await outcome_of(begun.live.leg), Unavailable)
        assert begun.live._turn is not None
        assert begun.live._turn.done()
