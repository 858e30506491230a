"""Keeping a turn's messages as they happen: in the log of its run, then in the session store."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from hermes.core.events import Emit, MessageKept
from hermes.core.messages import Message
from hermes.core.ports import Transcript
from hermes.core.run_link import RunLink
from hermes.core.turn import Resumption, Usage
from hermes.fibers import blocking

log = logging.getLogger(__name__)


class Recorder:
    """Appends messages to one session; made per turn. A failing store never ends a turn.

    With a link to its run a message is kept in the run's log first: a session never knows more
    than the run does.
    """

    def __init__(
        self,
        transcript: Transcript | None,
        session_id: str | None,
        model: str,
        *,
        link: RunLink | None = None,
        emit: Emit = lambda _event: None,
        resumption: Resumption | None = None,
    ) -> None:
        self._transcript = transcript if session_id else None
        self._session_id = session_id or ""
        self._model = model
        self._session_exists = False
        self._link = link
        self._emit = emit
        self._step = 0 if resumption is None else resumption.steps

    def record(self, message: Message, used: Usage | None = None) -> None:
        """Returns when the session has the message; at once when there is no session to keep it.

        Raises `Interrupted` when the run's log cannot be written; nothing is kept then.
        """
        place: dict[str, Any] = {}
        if self._link is not None:
            is_reply = message["role"] == "assistant"
            self._emit(MessageKept(message, used if is_reply else None))
            place = {"run_id": self._link.run_id, "step": self._step}
            self._step += 1
        if self._transcript is None:
            return
        if self._link is not None:
            self._link.barrier()
        try:
            blocking(partial(self._append, self._transcript, message, place))
        except Exception:  # an embedder's store may raise anything; the answer matters more
            log.exception("message not recorded", extra={"session_id": self._session_id})

    def _append(self, transcript: Transcript, message: Message, place: dict[str, Any]) -> None:
        """`place` is where in its run the message stands: a step of a run is kept once only."""
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
