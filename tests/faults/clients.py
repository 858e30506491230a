"""Clients that remember what they were told until the line broke."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from tests.faults.planned_model import plan
from tests.faults.served import Served

RUN_ID = "X-Hermes-Run-Id"
_ID = re.compile(rb"^id: (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that can be made again."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_key(self) -> bool:
        return "Idempotency-Key" in self.headers

    @property
    def is_streamed(self) -> bool:
        streamed = bool(self.body and self.body.get("stream"))
        return streamed or self.path.endswith(("/stream", "/events"))


@dataclass(slots=True)
class Told:
    """What a client was told: everything, unless the line broke."""

    asked: Asked
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    is_whole: bool = False

    @property
    def is_acknowledged(self) -> bool:
        """The whole answer has come, and it was a success."""
        return self.is_whole and self.status is not None and self.status < 300

    @property
    def run_id(self) -> str | None:
        return self.headers.get(RUN_ID) if self.status and self.status < 300 else None

    @property
    def frames(self) -> list[bytes]:
        """The whole events of a stream that are in a log: no comments, no places in a queue."""
        return logged_frames(self.body)

    @property
    def last_event_id(self) -> str | None:
        found = _ID.findall(b"\n\n".join(self.frames))
        return found[-1].decode() if found else None


def logged_frames(body: bytes) -> list[bytes]:
    whole = body.split(b"\n\n")[:-1]
    return [each for each in whole if not each.startswith(b":") and b"run.queued" not in each]


async def ask(served: Served, asked: Asked) -> Told:
    """Make a request and read the answer as far as it comes."""
    told = Told(asked)
    try:
        async with served.http.request(
            asked.method, served.url + asked.path, json=asked.body, headers=asked.headers
        ) as response:
            told.status, told.headers = response.status, dict(response.headers)
            async for chunk in response.content.iter_any():
                told.body += chunk
            told.is_whole = True
    except (aiohttp.ClientError, ConnectionError):
        pass  # the server was killed
    return told


class Crowd:
    """Several clients at once, each with its own habits. Everything they are told is kept."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._count = 0
        self.told: list[Told] = []

    async def work(self, served: Served) -> None:
        """All of them, until everything is answered or the server is gone."""
        habits = [
            self._create_sessions,
            self._chat_in_a_session,
            self._stream_in_a_session,
            self._complete_chats,
            self._make_responses,
            self._make_responses_in_the_background,
            self._make_runs,
            self._watch_a_run,
        ]
        await asyncio.gather(*(habit(served) for habit in habits))

    async def _tell(self, served: Served, path: str, body: Any, **headers: str) -> Told:
        asked = Asked(method="POST", path=path, body=body, headers=headers)
        told = await ask(served, asked)
        self.told.append(told)
        return told

    def _name(self, kind: str) -> str:
        """A new name, unlike every other of all rounds."""
        self._count += 1
        return f"{kind}{self._count}x{self._chance.randrange(10**9)}"

    def _plan(self) -> str:
        tools = tuple(self._name("tool") for _ in range(self._chance.choice([0, 1, 1, 2])))
        return plan(words=self._chance.randint(1, 25), pause=0.01, tools=tools)

    def _perhaps_key(self) -> dict[str, str]:
        is_wanted = self._chance.random() < 0.6
        return {"Idempotency-Key": self._name("key")} if is_wanted else {}

    def _is_streamed(self) -> bool:
        return self._chance.random() < 0.5

    async def _pause(self) -> None:
        await asyncio.sleep(self._chance.random() * 0.2)

    async def _session(self, served: Served) -> str | None:
        headers = {"Idempotency-Key": self._name("key")}
        made = await self._tell(served, "/api/sessions", {"title": self._name("title")}, **headers)
        found = re.search(rb'"id": ?"(session-\w+)"', made.body) if made.is_acknowledged else None
        return found[1].decode() if found else None

    async def _create_sessions(self, served: Served) -> None:
        for _ in range(4):
            await self._pause()
            await self._session(served)

    async def _chat_in_a_session(self, served: Served) -> None:
        session = await self._session(served)
        for _ in range(2 if session else 0):
            path = f"/api/sessions/{session}/chat"
            await self._tell(served, path, {"message": self._plan()}, **self._perhaps_key())

    async def _stream_in_a_session(self, served: Served) -> None:
        """Two at once: one of them has to wait for the other."""
        session = await self._session(served)
        path = f"/api/sessions/{session}/chat/stream"
        await asyncio.gather(
            *(
                self._tell(served, path, {"message": self._plan()}, **self._perhaps_key())
                for _ in range(2 if session else 0)
            )
        )

    async def _complete_chats(self, served: Served) -> None:
        headers = {"X-Hermes-Session-Id": self._name("chat")}
        for _ in range(2):
            body = {
                "messages": [{"role": "user", "content": self._plan()}],
                "stream": self._is_streamed(),
            }
            keyed = {**headers, **self._perhaps_key()}
            await self._tell(served, "/v1/chat/completions", body, **keyed)

    async def _make_responses(self, served: Served) -> None:
        for _ in range(2):
            body = {"input": self._plan(), "stream": self._is_streamed()}
            await self._tell(served, "/v1/responses", body, **self._perhaps_key())

    async def _make_responses_in_the_background(self, served: Served) -> None:
        await self._pause()
        body = {"input": self._plan(), "background": True, "stream": self._is_streamed()}
        await self._tell(served, "/v1/responses", body, **self._perhaps_key())

    async def _make_runs(self, served: Served) -> None:
        """Two in one session: one of them has to wait for the other."""
        session = self._name("run")
        for _ in range(2):
            body = {"input": self._plan(), "session_id": session}
            await self._tell(served, "/v1/runs", body, **self._perhaps_key())

    async def _watch_a_run(self, served: Served) -> None:
        """Two viewers at once, until the end or the kill."""
        made = await self._tell(served, "/v1/runs", {"input": self._plan()})
        if made.run_id is None:
            return
        events = Asked(method="GET", path=f"/v1/runs/{made.run_id}/events")
        self.told += await asyncio.gather(ask(served, events), ask(served, events))
