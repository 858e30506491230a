"""Strategies for every value that a run's log and its input can hold."""

from __future__ import annotations

from hypothesis import strategies as st

from hermes.core.approvals import ApprovalRequest, Decision, Grant
from hermes.core.changes import FileChange, FileState
from hermes.core.events import (
    ApprovalDecided,
    ApprovalRequested,
    CommandRan,
    Delegated,
    FilesChanged,
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
    TurnPaused,
)
from hermes.core.turn import (
    AnswerFormat,
    ClientTools,
    Failure,
    Outcome,
    Resumption,
    Sampling,
    TurnCall,
    TurnParameters,
    TurnResult,
    Usage,
)

# Lone surrogates included: models and tools write them.
texts = st.text(st.characters(), max_size=12)
numbers = st.integers(-(2**60), 2**60)
floats = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | floats | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, json_values, max_size=3)
messages = objects


def tuples(of: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(of, max_size=3).map(tuple)


def maybe(of: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | of


decisions = st.sampled_from(Decision)
requests = st.builds(
    ApprovalRequest,
    id=texts,
    code=texts,
    call_id=texts,
    tool=texts,
    arguments=objects,
    shown=texts,
    reason=texts,
    expires_at=floats,
)
usages = st.builds(
    Usage,
    input_tokens=numbers,
    output_tokens=numbers,
    total_tokens=numbers,
    cached_tokens=numbers,
    reasoning_tokens=numbers,
    cache_write_tokens=numbers,
    cost_usd=st.none() | st.integers(0, 1000).map(float),
    is_cost_partial=st.booleans(),
    is_estimated=st.booleans(),
)
results = st.builds(
    TurnResult,
    text=texts,
    outcome=st.sampled_from(Outcome),
    error=maybe(texts),
    failure=maybe(st.builds(Failure, code=texts, retry_after=maybe(floats))),
    pending=tuples(objects),
    approvals=tuples(requests),
    messages=tuples(messages),
    usage=usages,
    session_id=maybe(texts),
    api_calls=numbers,
)
parameters = st.builds(
    TurnParameters,
    persist=st.booleans(),
    sampling=st.builds(
        Sampling,
        temperature=maybe(floats),
        top_p=maybe(floats),
        max_tokens=maybe(numbers),
        stop=tuples(texts),
        seed=maybe(numbers),
        presence_penalty=maybe(floats),
        frequency_penalty=maybe(floats),
    ),
    answer_format=maybe(
        st.builds(
            AnswerFormat,
            name=texts,
            schema=maybe(objects),
            strict=st.booleans(),
            description=maybe(texts),
        )
    ),
    reasoning_effort=maybe(texts),
    client_tools=st.builds(
        ClientTools, tools=tuples(objects), choice=texts | objects, parallel=maybe(st.booleans())
    ),
    tool_results=tuples(messages),
    max_tool_calls=maybe(numbers),
    keeps_reasoning=st.booleans(),
    alias=maybe(texts),
    is_plain=st.booleans(),
    can_ask=st.booleans(),
    grants=tuples(st.builds(Grant, texts, texts, maybe(texts))),
    resumption=maybe(
        st.builds(
            Resumption,
            messages=tuples(messages),
            decisions=st.dictionaries(texts, decisions, max_size=3),
            steps=numbers,
        )
    ),
)
calls = st.builds(
    TurnCall,
    user_message=maybe(texts | st.lists(objects, max_size=3)),
    history=tuples(messages),
    system_prompt=maybe(texts),
    session_id=maybe(texts),
    session_key=maybe(texts),
    parameters=parameters,
)
file_states = st.builds(
    FileState,
    digest=maybe(texts),
    mode=numbers,
    size=numbers,
    is_link=st.booleans(),
    is_folder=st.booleans(),
)
file_changes = st.builds(
    FileChange,
    path=texts,
    before=maybe(file_states),
    after=maybe(file_states),
    is_sure=st.booleans(),
)
deeds = st.one_of(
    st.builds(FilesChanged, texts, tuples(file_changes), texts),
    st.builds(
        CommandRan,
        call_id=texts,
        command=texts,
        directory=texts,
        exit_code=maybe(numbers),
        seconds=floats,
        untracked=maybe(texts),
    ),
)
lasting_events = st.one_of(
    deeds,
    st.builds(Delegated, texts, deeds | st.builds(Notice, texts, texts)),
    st.just(SegmentEnd()),
    st.builds(ToolStarted, texts, texts, objects),
    st.builds(ToolFinished, texts, texts, objects, texts),
    st.builds(Notice, texts, texts),
    st.builds(MessageKept, messages),
    st.builds(ApprovalRequested, requests),
    st.builds(ApprovalDecided, texts, texts, decisions, texts),
    st.builds(SteerAccepted, texts, texts),
    st.builds(Steered, texts, texts),
    st.builds(RunQueued, numbers),
    st.builds(RunStarted, numbers),
)
passing_events = st.one_of(
    st.builds(TextDelta, texts),
    st.builds(ReasoningDelta, texts),
    st.builds(ToolProgress, texts, maybe(texts), maybe(texts)),
)
pauses = st.builds(TurnPaused, results)
ends = st.builds(TurnEnded, results, maybe(texts))
events = st.one_of(lasting_events, passing_events, pauses, ends)
