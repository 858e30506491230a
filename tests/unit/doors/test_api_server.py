"""The door `gateway.platforms.api_server`: what an embedder may build, replace and rely on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from gateway.config import PlatformConfig
from gateway.platforms import api_server
from gateway.platforms.api_server import APIServerAdapter

CHAT = "/v1/chat/completions"
HELLO = {"messages": [{"role": "user", "content": "Hello"}]}
ANSWER: tuple[dict[str, Any], dict[str, Any]] = ({"final_response": "Hello there"}, {})


@pytest.fixture(autouse=True)
def clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOST", "PORT", "KEY", "CORS_ORIGINS", "MODEL_NAME"):
        monkeypatch.delenv(f"API_SERVER_{name}", raising=False)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))


@pytest.fixture
def adapter() -> Iterator[APIServerAdapter]:
    """Made and closed outside of any event loop, as embedders do."""
    made = APIServerAdapter(PlatformConfig(enabled=True))
    yield made
    asyncio.run(made.close())


async def ask(adapter: APIServerAdapter, **more: Any) -> tuple[int, str]:
    async with TestClient(TestServer(adapter.application())) as client:
        response = await client.post(CHAT, json={**HELLO, **more})
        return response.status, await response.text()


def test_one_adapter_serves_on_several_loops_in_turn(
    adapter: APIServerAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answers(**_: Any) -> Any:
        return ANSWER

    monkeypatch.setattr(adapter, "_run_agent", answers)

    assert [asyncio.run(ask(adapter))[0] for _ in range(2)] == [200, 200]


def test_what_is_replaced_after_construction_is_what_is_used(
    adapter: APIServerAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    async def answers(**question: Any) -> Any:
        asked.append(question)
        question["stream_delta_callback"]("Hello there")
        return ANSWER

    monkeypatch.setattr(adapter, "_run_agent", answers)
    monkeypatch.setattr(adapter, "_model_name", "replaced")
    status, text = asyncio.run(ask(adapter, stream=True))

    assert (status, asked[0]["user_message"]) == (200, "Hello")
    assert '"model": "replaced"' in text
    assert '"content": "Hello there"' in text


def test_a_key_that_is_set_later_is_required_from_then_on(adapter: APIServerAdapter) -> None:
    adapter._api_key = "k-12345678"

    assert asyncio.run(ask(adapter))[0] == 401


@pytest.mark.parametrize(
    ("constant", "setting", "expected"), [(30.0, 10.0, 10.0), (0.5, 10.0, 0.5)]
)
def test_silence_lasts_no_longer_than_constant_and_setting(
    constant: float, setting: float, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = PlatformConfig(enabled=True, extra={"keepalive_seconds": setting})
    adapter = APIServerAdapter(config)
    monkeypatch.setattr(api_server, "CHAT_COMPLETIONS_SSE_KEEPALIVE_SECONDS", constant)

    assert adapter._keepalive() == expected
    asyncio.run(adapter.close())


def test_two_adapters_share_nothing(adapter: APIServerAdapter) -> None:
    other = APIServerAdapter(PlatformConfig(enabled=True))
    adapter._response_store.put("resp_1", {"response": {}})

    assert other._response_store.get("resp_1") is None
    asyncio.run(other.close())


def test_the_stores_are_opened_when_they_are_first_needed(
    adapter: APIServerAdapter, tmp_path: Path
) -> None:
    assert list(tmp_path.iterdir()) == []
    store = adapter._ensure_session_db()

    assert (tmp_path / "state.db").exists()
    assert adapter._ensure_session_db() is store


def test_a_store_that_cannot_be_opened_is_none_and_tried_again(
    adapter: APIServerAdapter, tmp_path: Path
) -> None:
    (tmp_path / "state.db").mkdir()
    first = adapter._ensure_session_db()
    (tmp_path / "state.db").rmdir()

    assert first is None
    assert adapter._ensure_session_db() is not None


async def test_nothing_can_be_pushed_to_an_http_client(adapter: APIServerAdapter) -> None:
    sent = await adapter.send("chat", "content")

    assert sent.success is False
    assert "HTTP request/response" in str(sent.error)


def test_an_agent_is_built_for_a_request_in_well_under_a_hundredth_of_a_second(
    adapter: APIServerAdapter,
) -> None:
    adapter._create_agent(session_id="warm")
    started = time.perf_counter()
    for _ in range(20):
        adapter._create_agent(session_id="s")

    assert (time.perf_counter() - started) / 20 < 0.01


@pytest.mark.parametrize("is_available", [True, False])
def test_the_requirement_is_read_when_it_is_asked_for(
    is_available: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_server, "AIOHTTP_AVAILABLE", is_available)

    assert api_server.check_api_server_requirements() is is_available
