"""Keeping a turn's messages in the session store as they happen."""

from __future__ import annotations

import logging
from functools import partial

from hermes.core.messages import Message
from hermes.core.ports import Transcript
from hermes.fibers import blocking

log = logging.getLogger(__name__)


class Recorder:
    """Appends messages to one session; made per turn. A failing store never ends a turn."""

    def __init__(self, transcript: Transcript | None, session_id: str | None, model: str) -> None:
        self._transcript = transcript if session_id else None
        self._session_id = session_id or ""
        self._model = model
        self._session_exists = False

    def record(self, message: Message) -> None:
        """Returns when the message is committed, or at once when nothing is to be kept."""
        if self._transcript is None:
            return
        try:
            blocking(partial(self._append, self._transcript, message))
        except Exception:  # an embedder's store may raise anything; the answer matters more
            log.exception("message not recorded", extra={"session_id": self._session_id})

    def _append(self, transcript: Transcript, message: Message) -> None:
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
        )
