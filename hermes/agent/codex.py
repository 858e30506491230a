"""The Responses dialect's own detour: some servers break their event stream's protocol at the end.

After one more try the same request is made with `responses.create(stream=True)`, whose raw events
need no closing handshake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hermes.providers.streams import CancelScope, consume

TRIES = 2
TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})


def stream_codex(
    client: Any,
    api_kwargs: Mapping[str, Any],
    on_event: Callable[[Any], None],
    *,
    scope: CancelScope,
    has_text: Callable[[], bool],
    forget: Callable[[], None],
    fallback: Callable[[], Any],
) -> Any:
    """The final response object, from `responses.stream` or else from the fallback.

    `forget` drops the tool calls of a try that broke, which another one need not make again.
    """
    for _ in range(TRIES):
        try:
            return consume(client.responses.stream(**api_kwargs), on_event, cancel=scope)
        except Exception as error:
            if has_text() or not _broke_protocol(error):
                raise
            forget()
    return fallback()


def create_stream(
    client: Any,
    api_kwargs: Mapping[str, Any],
    on_event: Callable[[Any], None],
    *,
    scope: CancelScope,
) -> Any:
    """Read `responses.create(stream=True)` to its end; the response of its terminal event."""
    final: list[Any] = []

    def remember_terminal(event: Any) -> None:
        on_event(event)
        response = _field(event, "response")
        if response is not None and str(_field(event, "type")) in TERMINAL:
            final[:] = [response]

    stream = client.responses.create(**{**api_kwargs, "stream": True})
    consume(stream, remember_terminal, cancel=scope)
    return final[0] if final else None


def failed_response(text: str, reason: str) -> dict[str, Any]:
    """The final response of a stream that broke off, as the provider would have worded it."""
    part = {"type": "output_text", "text": text}
    return {
        "status": "failed",
        "error": {"message": reason},
        "output": [{"type": "message", "role": "assistant", "content": [part]}],
    }


def _broke_protocol(error: Exception) -> bool:
    """Recognised by its name: the SDK's HTTP library is optional and slow to import."""
    return any(cls.__name__ == "RemoteProtocolError" for cls in type(error).__mro__)


def _field(event: Any, name: str) -> Any:
    return event.get(name) if isinstance(event, dict) else getattr(event, name, None)
