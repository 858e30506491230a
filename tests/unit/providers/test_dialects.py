"""Every wire tells the same story: dicts, objects, streams and whole answers give equal replies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import ConnectionLost, ProviderError, SettingsError
from hermes.providers.base import Dialect, dialect_for
from hermes.providers.chat_completions import ChatCompletions
from hermes.providers.clients import CHAT_WIRE, MESSAGES_WIRE, RESPONSES_WIRE
from hermes.providers.driven_stream import Wire as WireFacts
from hermes.providers.fields import parse_json
from hermes.providers.reply import Reply, ReplyBuilder
from hermes.providers.sse_reader import SseReader
from tests.unit.providers import dialogues
from tests.unit.providers.dialogues import as_object, chat_chunk, expected
from tests.unit.providers.loopback import (
    ask,
    ask_whole,
    endpoint,
    pooled_clients,
    provider,
    quiet_builder,
    sse,
    streaming,
)


@dataclass(frozen=True)
class Wire:
    dialect: Dialect
    events: list[dict[str, Any]]
    whole: dict[str, Any]
    reply: Reply
    ending: WireFacts
    path: str
    is_named: bool

    def __str__(self) -> str:
        return self.dialect.api_mode


WIRES = [
    Wire(
        dialect_for("chat_completions"),
        dialogues.CHAT_EVENTS,
        dialogues.CHAT_WHOLE,
        expected(dialogues.CHAT_USAGE, replay=dialogues.THOUGHTS),
        CHAT_WIRE,
        "/v1/chat/completions",
        False,
    ),
    Wire(
        dialect_for("codex_responses"),
        dialogues.RESPONSES_EVENTS,
        dialogues.RESPONSES_WHOLE,
        expected(dialogues.RESPONSES_USAGE, replay=dialogues.RESPONSES_REPLAY),
        RESPONSES_WIRE,
        "/v1/responses",
        True,
    ),
    Wire(
        dialect_for("anthropic_messages"),
        dialogues.ANTHROPIC_EVENTS,
        dialogues.ANTHROPIC_WHOLE,
        expected(
            dialogues.ANTHROPIC_USAGE,
            replay=dialogues.ANTHROPIC_REPLAY,
            usage=dialogues.ANTHROPIC_COUNTED,
        ),
        MESSAGES_WIRE,
        "/v1/messages",
        True,
    ),
]

NAMES = [
    "choices",
    "delta",
    "type",
    "item",
    "usage",
    "index",
    "content",
    "tool_calls",
    "message",
    "response",
    "output",
    "function",
    "content_block",
    "name",
    "status",
    "summary",
    "arguments",
    "stop_reason",
    "finish_reason",
    "reasoning_details",
]
KINDS = [
    "response.completed",
    "response.output_item.added",
    "response.output_item.done",
    "function_call",
    "content_block_start",
    "content_block_delta",
    "message_delta",
    "message_start",
    "tool_use",
    "thinking",
    "reasoning",
    "text_delta",
]
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(KINDS) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=12,
)

each_wire = pytest.mark.parametrize("wire", WIRES, ids=str)


def read(dialect: Dialect, events: list[Any]) -> Reply:
    into = quiet_builder()
    for event in events:
        dialect.feed(event, into)
    return into.build()


@each_wire
def test_dict_events_give_the_reply(wire: Wire) -> None:
    assert read(wire.dialect, wire.events) == wire.reply


@each_wire
def test_object_events_give_the_same_reply(wire: Wire) -> None:
    reply = read(wire.dialect, [as_object(event) for event in wire.events])
    assert replace(reply, raw_usage=None) == replace(wire.reply, raw_usage=None)


@each_wire
def test_a_whole_answer_gives_the_same_reply(wire: Wire) -> None:
    for answer in (wire.whole, as_object(wire.whole)):
        into = quiet_builder()
        wire.dialect.read_whole(answer, into)
        assert replace(into.build(), raw_usage=None) == replace(wire.reply, raw_usage=None)


@each_wire
def test_a_final_object_repeats_nothing_the_events_already_brought(wire: Wire) -> None:
    spoken: list[str] = []
    into = ReplyBuilder(on_text=spoken.append, on_reasoning=spoken.append)
    for event in wire.events:
        wire.dialect.feed(event, into)
    wire.dialect.finish(wire.whole, into)
    assert "".join(spoken) == "Hmm, files.Let me look."
    assert into.build() == wire.reply


@each_wire
@given(cuts=st.lists(st.integers(0, 4000), max_size=12))
def test_any_split_of_the_bytes_gives_the_same_reply(wire: Wire, cuts: list[int]) -> None:
    data = sse(wire.events, named=wire.is_named)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    reader, into = SseReader(), quiet_builder()
    for start, end in pairwise(edges):
        for _, payload in reader.feed(data[start:end]):
            wire.dialect.feed(parse_json(payload), into)
    assert into.build() == wire.reply


@each_wire
def test_only_the_last_event_of_an_answer_ends_it(wire: Wire) -> None:
    endings = [event for event in wire.events if wire.ending.ends_answer(event)]
    assert len(endings) == 1
    assert endings[0] in wire.events[-2:]


@each_wire
async def test_a_stream_over_a_real_socket_gives_the_same_reply(wire: Wire) -> None:
    body = sse(wire.events, named=wire.is_named, done=not wire.is_named)
    async with provider(streaming(body)) as there, pooled_clients() as clients:
        reply = await ask(clients, endpoint(there, wire.dialect.api_mode), wire.dialect)
    assert reply == wire.reply
    assert there.paths == [wire.path]
    assert there.bodies[0]["stream"] is True


@each_wire
async def test_a_whole_answer_over_a_real_socket_gives_the_same_reply(wire: Wire) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response(wire.whole)

    async with provider(answer) as there, pooled_clients() as clients:
        reply = await ask_whole(clients, endpoint(there, wire.dialect.api_mode), wire.dialect)
    assert reply == wire.reply
    assert "stream" not in there.bodies[0]


@each_wire
@given(junk=JUNK)
def test_no_nonsense_from_a_provider_crashes_a_dialect(wire: Wire, junk: Any) -> None:
    into = quiet_builder()
    try:
        wire.dialect.feed(junk, into)
        wire.dialect.finish(junk, into)
        wire.dialect.read_whole(junk, into)
    except ProviderError:
        pass
    assert isinstance(into.build(), Reply)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("stop", "stop"),
        ("eos", "stop"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("function_call", "tool_calls"),
        ("content_filter", "content_filter"),
    ],
)
def test_chat_finish_reasons_are_normalised(said: str, meant: str) -> None:
    assert read(ChatCompletions(), [chat_chunk({"content": "x"}, said)]).finish_reason == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("refusal", "content_filter"),
        ("model_context_window_exceeded", "length"),
    ],
)
def test_anthropic_stop_reasons_are_normalised(said: str, meant: str) -> None:
    event = {"type": "message_delta", "delta": {"stop_reason": said}}
    assert read(dialect_for("anthropic_messages"), [event]).finish_reason == meant


@pytest.mark.parametrize(
    ("reason", "meant"), [("max_output_tokens", "length"), ("content_filter", "content_filter")]
)
def test_incomplete_responses_say_why(reason: str, meant: str) -> None:
    response = {"status": "incomplete", "incomplete_details": {"reason": reason}, "output": []}
    event = {"type": "response.incomplete", "response": response}
    assert read(dialect_for("codex_responses"), [event]).finish_reason == meant


def test_a_chat_answer_that_ends_in_an_error_is_not_an_answer() -> None:
    with pytest.raises(ProviderError):
        read(ChatCompletions(), [chat_chunk({"content": "x"}), chat_chunk({}, "error")])


def test_a_failed_response_is_raised_with_its_reason() -> None:
    error = {"code": "server_error", "message": "The model fell over."}
    event = {"type": "response.failed", "response": {"status": "failed", "error": error}}
    with pytest.raises(ProviderError, match="The model fell over") as raised:
        read(dialect_for("codex_responses"), [event])
    assert raised.value.code == "server_error"


def test_a_flat_error_event_of_the_responses_wire_is_raised() -> None:
    event = as_object({"type": "error", "code": "rate_limit_exceeded", "message": "Slow down."})
    with pytest.raises(ProviderError, match="Slow down"):
        read(dialect_for("codex_responses"), [event])


def test_an_error_that_tells_of_a_lost_connection_may_be_tried_again() -> None:
    event = {"type": "error", "error": {"message": "Network connection lost."}}
    with pytest.raises(ConnectionLost):
        read(dialect_for("anthropic_messages"), [event])


def test_extra_content_is_found_in_both_places() -> None:
    signature = {"google": {"thought_signature": "sig"}}
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}
    direct = chat_chunk({"tool_calls": [{**call, "extra_content": signature}]})
    tucked = as_object(chat_chunk({"tool_calls": [call]}))
    tucked.choices[0].delta.tool_calls[0].model_extra = {"extra_content": signature}
    for event in (direct, tucked):
        part = read(ChatCompletions(), [event]).tool_calls[0].as_message_part()
        assert part["extra_content"] == signature


def test_content_in_parts_is_told_apart_into_thinking_and_text() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hmm."}]}
    reply = read(
        ChatCompletions(), [chat_chunk({"content": [thinking, {"type": "text", "text": "Yes."}]})]
    )
    assert (reply.reasoning, reply.text) == ("Hmm.", "Yes.")


def test_a_refusal_is_the_answer() -> None:
    assert read(ChatCompletions(), [chat_chunk({"refusal": "I won't."})]).text == "I won't."


def test_reasoning_details_are_put_together_for_replay() -> None:
    first = {"type": "reasoning.text", "index": 0, "text": "Let "}
    second = {"type": "reasoning.text", "index": 0, "text": "me think", "signature": "s"}
    reply = read(
        ChatCompletions(), [chat_chunk({"reasoning_details": [part]}) for part in (first, second)]
    )
    whole = {"type": "reasoning.text", "index": 0, "text": "Let me think", "signature": "s"}
    assert reply.replay == {"api_mode": "chat_completions", "items": [whole]}


def test_an_unknown_api_mode_names_the_known_ones() -> None:
    with pytest.raises(SettingsError, match="chat_completions, codex_responses, anthropic"):
        dialect_for("telepathy")
