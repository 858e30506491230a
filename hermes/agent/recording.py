"""Keeping a turn's messages as they happen: in the log of its run, then in the session store."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from hermes.core.events import Emit, MessageKept
from hermes.core.messages import Message
from hermes.core.ports import Transcript
from hermes.core.run_link import RunLink
from hermes.core.turn import Resumption
from hermes.fibers import blocking

log = logging.getLogger(__name__)


class Recorder:
    """Appends messages to one session; made per turn. A failing store never ends a turn."""

    def __init__(self, transcript: Transcript | None, session_id: str | None, model: str) -> None:
        self._transcript = transcript if session_id else None
        self._session_id = session_id or ""
        self._model = model
        self._session_exists = False

    def record(self, message: Message, **place: Any) -> None:
        """Returns when the message is committed, or at once when nothing is to be kept.

        `place` are the run and the step that the message comes from; a message that the store has
        from there already is not added again.
        """
        if self._transcript is None:
            return
        try:
            blocking(partial(self._append, self._transcript, message, place))
        except Exception:  # an embedder's store may raise anything; the answer matters more
            log.exception("message not recorded", extra={"session_id": self._session_id})

    def _append(self, transcript: Transcript, message: Message, place: dict[str, Any]) -> None:
        if not self._session_exists:
            transcript.create_session(self._session_id, "api_server", model=self._model)
            self._session_exists = True
        transcript.append_message(
            self._session_id,
            message["role"],
            message.get("content"),
            tool_calls=message.get("tool_calls"),
            tool_call_id=message.get("tool_call_id"),
            tool_name=message.get("tool_name"),
            **place,
        )


class RunRecorder:
    """Keeps messages in the log of a run first: a session never knows more than the run does."""

    def __init__(self, recorder: Recorder, link: RunLink, emit: Emit, *, step: int) -> None:
        self._recorder = recorder
        self._link = link
        self._emit = emit
        self._step = step

    def record(self, message: Message) -> None:
        """Raises `Interrupted` when the log cannot be written; nothing is kept then."""
        self._emit(MessageKept(message))
        blocking(self._link.barrier)
        self._recorder.record(message, run_id=self._link.run_id, step=self._step)
        self._step += 1


def recording(
    recorder: Recorder, link: RunLink | None, emit: Emit, resumption: Resumption | None
) -> Callable[[Message], None]:
    """How the messages of a turn are kept; the steps of one that goes on are counted on."""
    if link is None:
        return recorder.record
    step = resumption.steps if resumption is not None else 0
    return RunRecorder(recorder, link, emit, step=step).record
