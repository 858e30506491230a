"""Which conversation of the CLI a turn goes on with, and what is kept for the next one."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from functools import partial

from hermes.agent.hosted.seams import HostedSeams
from hermes.backends.drivers.base import Features
from hermes.backends.hosting.job import HostedJob
from hermes.backends.jobs import CliSession, Memory
from hermes.core.cli_sessions import CliMemory, fingerprint_of
from hermes.core.messages import Message
from hermes.core.usage import Usage
from hermes.fibers import blocking


class Remembering:
    """One turn in a session. Without a session, or a CLI that remembers, nothing is kept."""

    def __init__(self, seams: HostedSeams, features: Features) -> None:
        self._seams = seams
        self._features = features
        self._kept: CliMemory | None = None

    def memory_for(self, told: Sequence[Message]) -> Memory | None:
        """What the CLI is to go on with, if it knows exactly `told`; otherwise a new one."""
        session_id = self._seams.session_id
        if session_id is None or not self._features.resumes:
            return None
        find = partial(self._seams.memories.find, self._seams.model.agent.name, session_id)
        self._kept = blocking(find)
        if self._kept is None or self._kept.fingerprint != fingerprint_of(told):
            return self.new_memory()
        session = CliSession(
            id=self._kept.cli_session_id, is_resumed=True, used_before=self._kept.used
        )
        return Memory(home_id=self._kept.home_id, session=session)

    def new_memory(self) -> Memory:
        chosen = str(uuid.uuid4()) if self._features.chooses_session_ids else None
        return Memory(home_id=str(uuid.uuid4()), session=CliSession(id=chosen))

    def keep(
        self, job: HostedJob, cli_session_id: str | None, used: Usage, told: Sequence[Message]
    ) -> None:
        """The CLI knows `told` now."""
        session_id, memory = self._seams.session_id, job.memory
        if session_id is None or memory is None or cli_session_id is None:
            return
        replaced = self._kept
        self._kept = CliMemory(
            agent=self._seams.model.agent.name,
            session_id=session_id,
            home_id=memory.home_id,
            cli_session_id=cli_session_id,
            fingerprint=fingerprint_of(told),
            used=used,
        )
        blocking(partial(self._seams.memories.keep, self._kept))
        if replaced is not None and replaced.home_id != self._kept.home_id:
            self._forget(replaced.home_id)

    def drop(self, job: HostedJob) -> None:
        """A conversation that came to no answer is not gone on with: the next turn tells it all."""
        if job.memory is not None and job.memory.home_id != self._kept_home:
            self._forget(job.memory.home_id)

    @property
    def _kept_home(self) -> str | None:
        return None if self._kept is None else self._kept.home_id

    def _forget(self, home_id: str) -> None:
        blocking(partial(self._seams.host.forget, self._seams.model.agent.name, home_id))
