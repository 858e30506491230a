"""A real gateway process with real CLI agents behind it, before a provider that plays scenes."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openai

from hermes.testing.fake_provider import FakeProvider
from hermes.testing.replies import Reply, ToolUse
from hermes.testing.requests import ModelRequest
from hermes.testing.sse import parse_events
from tests.cli.scenes import Scene, Scenes
from tests.faults.served import KEY, Served, configure, serving

ENDED = ("completed", "failed", "cancelled", "interrupted")
PROVIDER_KEY = "sk-provider-0123456789abcdef"
BIN = Path(__file__).parent / "node_modules" / ".bin"

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Playing:
    """A provider, and what it says."""

    scenes: Scenes
    provider: FakeProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A gateway at work: whom it asks, and two kinds of client that ask it."""

    playing: Playing
    served: Served
    sdk: openai.AsyncOpenAI = field(repr=False)

    def on(self, words: str, *replies: Reply | Callable[[ModelRequest], Reply]) -> Scene:
        return self.playing.scenes.on(words, *replies)

    @property
    def home(self) -> Path:
        return self.served.home

    @property
    def temporary(self) -> Path:
        """Where the gateway, and nobody else, makes its temporary files."""
        return _temporary(self.home)

    async def chat(self, model: str, prompt: Any, **more: Any) -> Any:
        return await self.sdk.chat.completions.create(
            model=model, messages=[{"role": "user", "content": prompt}], **more
        )

    async def say(self, model: str, prompt: Any, **more: Any) -> str:
        """The text of the whole answer."""
        return (await self.chat(model, prompt, **more)).choices[0].message.content

    async def stream(self, model: str, prompt: Any, **more: Any) -> tuple[list[str], Any]:
        """The pieces of the text in their order, and the usage."""
        pieces, usage = [], None
        options = {"stream": True, "stream_options": {"include_usage": True}}
        async for chunk in await self.chat(model, prompt, **options, **more):
            usage = chunk.usage or usage
            pieces += [choice.delta.content for choice in chunk.choices if choice.delta.content]
        return pieces, usage

    def post(self, path: str, body: Any, **more: Any) -> Any:
        """A request without an SDK, as an `async with` block."""
        return self.served.http.post(self.served.url + path, json=body, **more)

    async def run(self, model: str, prompt: str, **more: Any) -> str:
        """Begin a run; its id."""
        status, body = await self.served.answer(
            "POST", "/v1/runs", json={"model": model, "input": prompt, **more}
        )
        assert status in (200, 202), body
        return str(body.get("run_id") or body["id"])

    async def in_state(self, run_id: str, *wanted: str) -> dict[str, Any]:
        """The run, as soon as it is in one of these states."""
        async with asyncio.timeout(60):
            while (run := await self.served.get(f"/v1/runs/{run_id}"))["status"] not in wanted:
                assert run["status"] not in ENDED, run
                await asyncio.sleep(0.05)
        return run

    async def decide(self, run_id: str, decision: str) -> None:
        status, body = await self.served.answer(
            "POST", f"/v1/runs/{run_id}/approval", json={"decision": decision}
        )
        assert status == 200, body

    async def events(self, run_id: str) -> list[dict[str, Any]]:
        """All events of a run, to its end."""
        raw = await self.served.stream(f"/v1/runs/{run_id}/events")
        return [json.loads(event.data) for event in parse_events(raw.decode())]


def _temporary(home: Path) -> Path:
    return home.parent / f"{home.name}-tmp"


def unique(word: str) -> str:
    """A word that no other talk with the provider contains."""
    return f"{word}{next(_numbers)}x{os.urandom(4).hex()}"


def claude(**more: Any) -> dict[str, Any]:
    return {"driver": "claude", "command": [str(BIN / "claude")], "models": ["haiku"], **more}


def codex(**more: Any) -> dict[str, Any]:
    return {"driver": "codex", "command": [str(BIN / "codex")], "models": ["scripted"], **more}


def shell(model: str, command: str) -> ToolUse:
    """The model has its CLI run a command that somebody must allow first."""
    if model.endswith("/haiku"):
        return ToolUse("Bash", {"command": command, "description": "try something"})
    outside = {"sandbox_permissions": "require_escalated", "justification": "try something"}
    return ToolUse("exec_command", {"cmd": command, **outside})


@asynccontextmanager
async def staged(
    home: Path, playing: Playing, agents: Mapping[str, Mapping[str, Any]], **section: Any
) -> AsyncIterator[Stage]:
    """Serve these agents, all of them with the same provider. `section` is more of `cli`."""
    paid = {"base_url": playing.provider.origin, "api_key": PROVIDER_KEY}
    configured = {name: {**paid, **said} for name, said in agents.items()}
    configure(home, json.dumps({"cli": {"agents": configured, **section}}))
    _temporary(home).mkdir(exist_ok=True)
    environment = {"TMPDIR": str(_temporary(home))}
    async with serving(home, playing.provider, environment=environment) as served:
        sdk = openai.AsyncOpenAI(
            base_url=f"{served.url}/v1", api_key=KEY, max_retries=0, timeout=60
        )
        async with sdk:
            yield Stage(playing=playing, served=served, sdk=sdk)
