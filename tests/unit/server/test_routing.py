"""Who answers a request, and what the client is told about it."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.core.served_models import ServedModel
from hermes.core.turn import TurnParameters
from hermes.settings.model import ListenerSettings
from tests.unit.server.conftest import Serve
from tests.unit.server.fakes import FakeTurns

CHAT = "/v1/chat/completions"
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
MODELS = {
    None: ServedModel(model="large"),
    "quick": ServedModel(model="small"),
    "blind": ServedModel(model="text", has_vision=False),
}
SERVED: dict[str, Any] = {"served_model": MODELS.get, "aliases": lambda: ["quick", "blind"]}


def asked(model: str | None = None, content: Any = "Hello", **fields: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": content}], **fields}


@pytest.mark.parametrize(
    ("model", "alias", "header"),
    [
        (None, None, None),
        ("", None, None),
        ("test-model", None, None),
        ("quick", "quick", None),
        ("gpt-4o", None, "test-model"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_the_model_of_a_request_decides_who_answers(
    serve: Serve, model: str | None, alias: str | None, header: str | None, stream: bool
) -> None:
    turns = FakeTurns()
    client = await serve(turns, **SERVED)
    response = await client.post(CHAT, json=asked(model, stream=stream))
    await response.read()

    assert [call.parameters.alias for call in turns.calls] == [alias]
    assert response.headers.get("X-Hermes-Model") == header


async def test_an_unknown_model_can_be_refused(serve: Serve) -> None:
    turns = FakeTurns()
    client = await serve(turns, listener=ListenerSettings(unknown_model="refuse"), **SERVED)
    response = await client.post(CHAT, json=asked("gpt-4o"))
    error = (await response.json())["error"]

    assert (response.status, error["code"], error["param"]) == (404, "model_not_found", "model")
    assert turns.calls == []


async def test_the_list_has_the_agent_first_and_then_the_aliases(serve: Serve) -> None:
    client = await serve(**SERVED)
    listed = await (await client.get("/v1/models")).json()
    one = await (await client.get("/v1/models/quick")).json()
    missing = await client.get("/v1/models/gpt-4o")

    assert [model["id"] for model in listed["data"]] == ["test-model", "quick", "blind"]
    assert one == listed["data"][1]
    assert missing.status == 404


async def test_images_for_a_model_that_cannot_see_are_refused_by_its_name(serve: Serve) -> None:
    client = await serve(**SERVED)
    refused = await client.post(CHAT, json=asked("blind", [IMAGE]))
    seen = await client.post(CHAT, json=asked("quick", [IMAGE]))
    error = (await refused.json())["error"]

    assert (refused.status, error["code"]) == (400, "images_unsupported")
    assert "'blind'" in error["message"]
    assert seen.status == 200


async def test_a_session_chat_is_routed_too(serve: Serve) -> None:
    turns = FakeTurns()
    client = await serve(turns, **SERVED)
    made = await (await client.post("/api/sessions", json={})).json()
    path = f"/api/sessions/{made['session']['id']}/chat"
    await client.post(path, json={"message": "Hi", "model": "quick"})
    other = await client.post(path, json={"message": "Hi", "model": "gpt-4o"})

    assert [call.parameters for call in turns.calls] == [
        TurnParameters(persist=True, owner="local", can_ask=True, alias="quick"),
        TurnParameters(persist=True, owner="local", can_ask=True),
    ]
    assert other.headers["X-Hermes-Model"] == "test-model"
