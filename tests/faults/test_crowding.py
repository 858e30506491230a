"""Many requests at the same moment, in the same session."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hermes.testing.fake_provider import FakeProvider
from hermes.testing.scripted import EchoModel
from tests.faults.served import serving

SESSIONS = 15
AT_ONCE = 4


async def test_requests_that_come_at_once_into_one_session_are_all_answered(
    tmp_path: Path,
) -> None:
    async with (
        FakeProvider(EchoModel()) as provider,
        serving(tmp_path / "home", provider) as served,
    ):
        bodies = [
            {"input": f"{session} {number}", "session_id": f"crowd{session}", "wait": 30}
            for session in range(SESSIONS)
            for number in range(AT_ONCE)
        ]
        answers = await asyncio.gather(
            *(served.answer("POST", "/v1/runs", json=body) for body in bodies)
        )

    assert [(status, run["status"], run["output"]) for status, run in answers] == [
        (200, "completed", body["input"]) for body in bodies
    ]
