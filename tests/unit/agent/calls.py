"""Model calls with fake clients: what was opened, shown, touched and closed is noted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, Self

from hermes.agent import asking
from hermes.agent.seams import CallSeams
from hermes.agent.stopping import StopSignal
from hermes.providers.base import dialect_for
from hermes.providers.reply import Reply


def chunk(
    text: str | None = None, *, finish: str | None = None, call: Any = None, thought: str = ""
) -> dict[str, Any]:
    """One event of a chat completions stream."""
    delta: dict[str, Any] = {"content": text, "reasoning_content": thought}
    if call is not None:
        delta["tool_calls"] = [call]
    return {"model": "m", "choices": [{"delta": delta, "finish_reason": finish}]}


def call_piece(name: str | None = None, arguments: str = "", id: str | None = None) -> Any:
    return {"index": 0, "id": id, "function": {"name": name, "arguments": arguments}}


def text_event(text: str) -> dict[str, str]:
    """One event of a Responses stream."""
    return {"type": "response.output_text.delta", "delta": text}


def call_event(name: str, id: str = "c1") -> dict[str, Any]:
    item = {"type": "function_call", "call_id": id, "name": name}
    return {"type": "response.output_item.added", "output_index": 0, "item": item}


def response(text: str = "", *items: dict[str, Any], status: str = "completed") -> dict[str, Any]:
    """A final response object."""
    part = {"type": "output_text", "text": text}
    spoken = [{"type": "message", "content": [part]}] if text else []
    return {"status": status, "output": [*spoken, *items]}


class RemoteProtocolError(Exception):
    """Named and placed like the one of httpx, which our code knows by name only."""


RemoteProtocolError.__mro__[0].__module__ = "httpx"


def breaking(*events: Any, error: Exception) -> Iterator[Any]:
    """A stream that breaks after `events`."""
    yield from events
    raise error


class ManagedStream:
    """A stream as the SDKs make them: entered, read, asked for its final object."""

    def __init__(self, events: Iterable[Any], final: Any = None) -> None:
        self._events = events
        self._final = final

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._events)

    def get_final_response(self) -> Any:
        return self._final


class Call:
    """Makes one model call over scripted streams; each `create` or `stream` takes the next."""

    def __init__(
        self,
        *streams: Any,
        api_mode: str = "chat_completions",
        retries: int = 2,
        fallback: Callable[[Mapping[str, Any], Any], Any] | None = None,
    ) -> None:
        self.shown: list[str] = []
        self.thoughts: list[str] = []
        self.touched: list[str] = []
        self.opened = 0
        self.closed = 0
        self.streaming_disabled = False
        self.whole_calls_failed = 0
        self.stop = StopSignal()
        self.is_interrupted = False
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self._streams = iter(streams)
        self._fallback = fallback
        self.seams = CallSeams(
            dialect=lambda: dialect_for(api_mode),
            open_client=self._open,
            close_client=self._close,
            codex_fallback=self._fall_back,
            on_text=lambda: self.shown.append,
            on_reasoning=lambda: self.thoughts.append,
            touch=lambda: self.touched.append,
            is_interrupted=lambda: self.is_interrupted,
            stop=lambda: self.stop,
            disable_streaming=self._disable_streaming,
            whole_call_failed=self._note_failed_whole,
            retries=lambda: retries,
        )

    def stream(self, on_first: Callable[[], None] | None = None) -> Reply:
        return asking.stream_reply(self.seams, {"model": "m"}, on_first)

    def whole(self) -> Reply:
        return asking.whole_reply(self.seams, {"model": "m"})

    @property
    def client(self) -> Any:
        return SimpleNamespace(
            chat=SimpleNamespace(completions=SimpleNamespace(create=self._next("create"))),
            responses=SimpleNamespace(stream=self._next("stream"), create=self._next("create")),
        )

    def _next(self, method: str) -> Callable[..., Any]:
        def made(**api_kwargs: Any) -> Any:
            self.requests.append((method, api_kwargs))
            line = next(self._streams)
            if isinstance(line, Exception):
                raise line
            return line

        return made

    def _open(self) -> Any:
        self.opened += 1
        return self.client

    def _close(self, _client: Any) -> None:
        self.closed += 1

    def _fall_back(self, api_kwargs: Mapping[str, Any], client: Any) -> Any:
        if self._fallback is not None:
            return self._fallback(api_kwargs, client)
        return asking.codex_created_response(self.seams, api_kwargs, client)

    def _note_failed_whole(self) -> None:
        self.whole_calls_failed += 1

    def _disable_streaming(self) -> None:
        self.streaming_disabled = True
