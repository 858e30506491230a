"""What the gateway says about itself."""

from __future__ import annotations

import os
import re
from typing import Any

from hermes.server.routes import ROUTES
from tests.unit.server.conftest import Serve


async def answer(client: Any, path: str) -> tuple[int, Any]:
    response = await client.get(path)
    return response.status, await response.json()


async def test_health_is_answered_at_both_of_its_paths(serve: Serve) -> None:
    client = await serve(key="k-12345678")
    expected = (200, {"status": "ok", "platform": "hermes-agent"})

    assert await answer(client, "/health") == expected
    assert await answer(client, "/v1/health") == expected


async def test_detailed_health_repeats_the_status_that_was_written(serve: Serve) -> None:
    status = {"gateway_state": "running", "active_agents": 2, "updated_at": "now"}
    client = await serve(runtime_status=lambda: status)
    _, found = await answer(client, "/health/detailed")

    assert found == {
        "status": "ok",
        "platform": "hermes-agent",
        "gateway_state": "running",
        "platforms": {},
        "active_agents": 2,
        "exit_reason": None,
        "updated_at": "now",
        "pid": os.getpid(),
        "providers": [],
    }


async def test_detailed_health_does_without_a_status(serve: Serve) -> None:
    client = await serve(runtime_status=lambda: None)
    status, found = await answer(client, "/health/detailed")

    assert (status, found["status"], found["gateway_state"]) == (200, "ok", None)


async def test_the_model_is_listed_and_can_be_asked_for(serve: Serve) -> None:
    client = await serve(model_name=lambda: "team/helper")
    _, listed = await answer(client, "/v1/models")
    _, found = await answer(client, "/v1/models/team/helper")
    status, missing = await answer(client, "/v1/models/gpt-nothing")

    assert listed == {"object": "list", "data": [found]}
    assert (found["id"], found["created"]) == ("team/helper", 1_700_000_000)
    assert (status, missing["error"]["code"]) == (404, "model_not_found")


async def test_every_route_is_advertised_and_served(serve: Serve) -> None:
    client = await serve()
    _, found = await answer(client, "/v1/capabilities")

    assert set(found["endpoints"]) == {route.name for route in ROUTES}
    for route in ROUTES:
        shown = found["endpoints"][route.name]
        assert shown["method"] == route.method
        assert ":" not in shown["path"]
        path = re.sub(r"\{[^}]*\}", "any", shown["path"])
        response = await client.request(route.method, path, data=b"{}")
        assert response.status != 405
        if response.status == 404:
            # The path is known; only the thing it names is not.
            assert (await response.json())["error"]["code"] != "not_found"


async def test_capabilities_tell_whether_a_key_is_needed(serve: Serve) -> None:
    for key in ("", "k-12345678"):
        _, found = await answer(await serve(key=key), "/v1/capabilities")
        assert found["auth"] == {"type": "bearer", "required": bool(key)}


async def test_tools_and_skills_are_lists(serve: Serve) -> None:
    client = await serve(toolsets=lambda _owner: [{"id": "files"}], skills=lambda: [{"id": "cook"}])

    assert await answer(client, "/v1/toolsets") == (
        200,
        {"object": "list", "data": [{"id": "files"}]},
    )
    assert await answer(client, "/v1/skills") == (200, {"object": "list", "data": [{"id": "cook"}]})
