"""An agent whose turns a CLI carries out; to whoever runs turns it is one like any other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hermes.agent.cooperation import Cooperative
from hermes.agent.hosted.conversing import converse
from hermes.agent.hosted.seams import HostedSeams
from hermes.backends.hosting.job import HostedJob
from hermes.core.messages import Content, Message
from hermes.core.turn import TurnResult


class HostedAgent(Cooperative):
    """Made for one turn. It waits for its CLI on the event loop, in a fiber."""

    def __init__(
        self,
        seams: HostedSeams,
        as_dict: Callable[[TurnResult, str | None], dict[str, Any]],
        session_id: str | None,
    ) -> None:
        """`as_dict` says how a result is told to whoever runs the turn."""
        self._seams = seams
        self._as_dict = as_dict
        self._job: HostedJob | None = None
        self._is_stopped = False
        self.session_id = session_id

    def can_share_the_loop(self) -> bool:
        return True

    def run_conversation(
        self,
        user_message: Content | None,
        conversation_history: Sequence[Message] | None = None,
        task_id: str | None = None,
    ) -> dict[str, Any]:
        try:
            result = converse(self._seams, user_message, conversation_history or (), self._take)
        except BaseException:
            self.interrupt()  # nobody follows its job any more
            raise
        self._seams.allowance.close()
        self._seams.meter.turn_ended(result.outcome.value)
        return self._as_dict(result, self.session_id)

    def interrupt(self, message: str | None = None) -> None:
        """Have the turn end: its processes get signals until none is left. From any thread."""
        self._is_stopped = True
        if self._job is not None:
            self._job.stop()

    def _take(self, job: HostedJob) -> None:
        self._job = job
        if self._is_stopped:
            job.stop()
