"""Lawful event logs for property tests: whatever hypothesis dreams up, `Laws` has admitted it."""

from __future__ import annotations

from hypothesis import strategies as st

from hermes.core.approvals import ApprovalRequest, Decision
from hermes.core.changes import FileChange, FileState
from hermes.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandRan,
    Delegated,
    Event,
    FilesChanged,
    Idle,
    Laws,
    MessageKept,
    Notice,
    ReasoningDelta,
    RunQueued,
    RunStarted,
    SegmentEnd,
    SteerAccepted,
    Steered,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.wire.tool_forms import AUDIENCES, Dialect, ReasoningView

# Lone surrogates are replaced where a provider's answer is read; they never become events.
characters = st.characters(exclude_categories=["Cs"])
texts = st.text(characters, max_size=8)
call_ids = st.sampled_from(["call_1", "call_2", "call_3"])
tool_names = st.sampled_from(["terminal", "read_file", "_thinking"])
arguments = st.dictionaries(
    st.text(characters, max_size=4), st.none() | st.integers() | texts, max_size=2
)
usages = st.builds(
    Usage, input_tokens=st.integers(0, 9), output_tokens=st.integers(0, 9), total_tokens=st.just(9)
)
PENDING = {
    "id": "call_9",
    "type": "function",
    "function": {"name": "lookup", "arguments": '{"q": 1}'},
}
over = st.builds(
    TurnResult,
    text=texts,
    outcome=st.sampled_from(sorted(set(Outcome) - {Outcome.WAITING, Outcome.ASKING}, key=str)),
    error=st.none() | texts,
    usage=usages,
)
waiting = st.builds(
    TurnResult,
    text=texts,
    outcome=st.just(Outcome.WAITING),
    pending=st.lists(st.just(PENDING), min_size=1, max_size=2),
    usage=usages,
)
requests = st.builds(
    ApprovalRequest,
    id=st.just("appr_1"),
    code=st.just("K7Q2M"),
    call_id=call_ids,
    tool=tool_names,
    arguments=arguments,
    shown=texts,
    reason=texts,
    expires_at=st.just(1_700_000_900.0),
)
asking = st.builds(
    TurnResult,
    text=texts,
    outcome=st.just(Outcome.ASKING),
    approvals=st.lists(requests, min_size=1, max_size=2),
    usage=usages,
)
results = over | waiting
"""How turns end that need nobody's approval."""
events = st.one_of(
    st.builds(TextDelta, texts),
    st.builds(ReasoningDelta, texts),
    st.just(SegmentEnd()),
    st.builds(ToolStarted, call_ids, tool_names, arguments),
    st.builds(ToolFinished, call_ids, tool_names, arguments, texts),
    st.builds(ToolProgress, st.just("reasoning.available"), st.just("_thinking"), texts),
    st.builds(Notice, st.just("retry"), texts),
    st.just(Idle()),
)

dialects = st.builds(
    Dialect,
    forms=st.sampled_from(list(AUDIENCES.values())),
    reasoning=st.sampled_from(ReasoningView),
)


def _lawful(wishes: list[Event], result: TurnResult) -> list[Event]:
    laws = Laws()
    log: list[Event] = []
    names: dict[str, str] = {}
    for event in [*wishes, TurnEnded(result)]:
        if not laws.admits(event):
            continue
        if isinstance(event, ToolStarted):
            names[event.call_id] = event.name
        if isinstance(event, ToolFinished):
            # A tool ends under the name it began with.
            event = ToolFinished(event.call_id, names[event.call_id], event.arguments, event.output)
        log.append(event)
    return log


CHANGE = FileChange(
    path="/home/ada/notes.txt",
    before=None,
    after=FileState(digest="0" * 64, mode=0o600, size=3),
)

run_events = st.one_of(
    events,
    st.builds(MessageKept, st.builds(lambda text: {"role": "assistant", "content": text}, texts)),
    st.builds(ApprovalRequested, requests),
    st.builds(ApprovalDecided, st.just("appr_1"), call_ids, st.sampled_from(Decision), texts),
    st.builds(SteerAccepted, st.just("steer_1"), texts),
    st.builds(Steered, st.just("steer_1"), texts),
    st.builds(FilesChanged, call_ids, st.just((CHANGE,))),
    st.builds(
        CommandRan,
        call_id=call_ids,
        command=texts,
        directory=st.just("/home/ada"),
        exit_code=st.none() | st.integers(-9, 255),
        seconds=st.floats(0, 9),
    ),
    st.builds(Delegated, call_ids, st.builds(Notice, st.just("retry"), texts)),
    st.builds(RunQueued, st.integers(0, 9)),
    st.builds(RunStarted, st.integers(1, 3)),
)

logs = st.builds(_lawful, st.lists(events, max_size=25), results)
"""Event logs as a turn without a run would hold them, ending with `TurnEnded`."""

run_logs = st.builds(_lawful, st.lists(run_events, max_size=25), results | asking)
"""The same with everything that a durable run may log, questions included."""


def streamed_text(log: list[Event]) -> str:
    return "".join(event.text for event in log if isinstance(event, TextDelta))


def result_of(log: list[Event]) -> TurnResult:
    last = log[-1]
    assert isinstance(last, TurnEnded)
    return last.result
