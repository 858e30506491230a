"""Reads any provider stream to its end: our driven ones, SDK streams, plain iterators."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import GeneratorType
from typing import Any

from hermes.core.errors import Interrupted
from hermes.providers.driven_stream import DrivenStream
from hermes.providers.fields import text_field


class CancelScope:
    """Lets any thread end the model call another thread waits for. Once cancelled, for good."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[Callable[[], object]] = []
        self._is_cancelled = False

    @property
    def is_cancelled(self) -> bool:
        return self._is_cancelled

    @contextmanager
    def attach(self, cancel: Callable[[], object]) -> Iterator[None]:
        """While inside, `cancel` ends the call; called at once if that was already asked for."""
        with self._lock:
            self._open.append(cancel)
            is_late = self._is_cancelled
        if is_late:
            cancel()
        try:
            yield
        finally:
            with self._lock:
                self._open.remove(cancel)

    def cancel(self) -> None:
        with self._lock:
            self._is_cancelled = True
            attached = list(self._open)
        for cancel in attached:
            cancel()

    def raise_if_cancelled(self) -> None:
        if self._is_cancelled:
            raise Interrupted("The model call was stopped.")


def consume(
    stream: Any,
    on_event: Callable[[Any], None],
    *,
    cancel: CancelScope,
    on_text: Callable[[str], None] | None = None,
) -> Any:
    """Hand every event to `on_event`; returns the stream's final object, or None.

    A driven stream hands plain text to `on_text` instead, if there is one (see `DrivenStream`).
    Blocks the calling thread. A cancelled scope ends it with Interrupted, whatever the stream
    itself raises when it is torn away.
    """
    cancel.raise_if_cancelled()
    try:
        if isinstance(stream, DrivenStream):
            return _drive(stream, on_event, on_text, cancel)
        return _iterate(stream, on_event, cancel)
    except Exception as error:
        # Foreign streams raise anything when they are closed under their reader.
        if cancel.is_cancelled and not isinstance(error, Interrupted):
            raise Interrupted("The model call was stopped.") from error
        raise


def _drive(
    stream: DrivenStream,
    on_event: Callable[[Any], None],
    on_text: Callable[[str], None] | None,
    cancel: CancelScope,
) -> Any:
    with cancel.attach(stream.cancel):
        stream.drive(on_event, on_text)
    return stream.final


def _iterate(stream: Any, on_event: Callable[[Any], None], cancel: CancelScope) -> Any:
    with ExitStack() as stack:
        is_managed = hasattr(type(stream), "__enter__")
        entered = stack.enter_context(stream) if is_managed else stream
        close = getattr(entered, "close", None)
        # A generator cannot be closed while another thread is inside it.
        if callable(close) and not isinstance(entered, GeneratorType):
            stack.enter_context(cancel.attach(_quietly(close)))
        last_event = None
        for last_event in entered:
            cancel.raise_if_cancelled()
            on_event(last_event)
        cancel.raise_if_cancelled()
        return _final_object(entered, last_event) if is_managed else None


def _final_object(stream: Any, last_event: Any) -> Any:
    is_response = text_field(last_event, "type").startswith("response.")
    get_final = getattr(stream, "get_final_response" if is_response else "get_final_message", None)
    return get_final() if callable(get_final) else None


def _quietly(close: Callable[[], object]) -> Callable[[], None]:
    def closed() -> None:
        try:
            close()
        except Exception:  # noqa: BLE001  a foreign stream, closed from a thread it did not expect
            return

    return closed
