"""Parameters without effect: named, or refused."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.core.served_models import ServedModel
from hermes.settings.model import ListenerSettings
from tests.unit.server.conftest import Serve

CHAT = "/v1/chat/completions"
HEADER = "X-Hermes-Ignored-Params"
ANTHROPIC: dict[str, Any] = {
    "served_model": lambda _alias: ServedModel(model="claude", api_mode="anthropic_messages")
}


def asked(**fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "Hello"}], **fields}


@pytest.mark.parametrize("stream", [False, True])
async def test_what_has_no_effect_is_named(serve: Serve, stream: bool) -> None:
    client = await serve()
    response = await client.post(CHAT, json=asked(user="ann", acme=1, seed=3, stream=stream))
    plain = await client.post(CHAT, json=asked(stream=stream, seed=3))

    assert response.headers[HEADER] == "user, acme"
    assert HEADER not in plain.headers


async def test_what_the_model_does_not_heed_is_named_too(serve: Serve) -> None:
    client = await serve(**ANTHROPIC)
    response = await client.post(CHAT, json=asked(seed=3, temperature=0.5))

    assert response.headers[HEADER] == "seed"


@pytest.mark.parametrize(
    ("configured", "header", "status"),
    [
        (False, None, 200),
        (False, "true", 400),
        (True, None, 400),
        (True, "false", 200),
    ],
)
async def test_a_strict_request_is_refused_instead(
    serve: Serve, configured: bool, header: str | None, status: int
) -> None:
    client = await serve(listener=ListenerSettings(strict_params=configured))
    headers = {"X-Hermes-Strict": header} if header else {}
    response = await client.post(CHAT, json=asked(acme=1), headers=headers)
    harmless = await client.post(CHAT, json=asked(seed=1), headers=headers)

    assert (response.status, harmless.status) == (status, 200)
    if status == 400:
        error = (await response.json())["error"]
        assert (error["code"], error["param"]) == ("unsupported_parameter", "acme")


async def test_a_name_that_no_header_could_carry_is_left_out(serve: Serve) -> None:
    client = await serve()
    odd = {"a\r\nX-Evil: 1": 1, "snow\u2603": 1, "x" * 100: 1}
    response = await client.post(CHAT, json=asked(**odd))

    assert response.status == 200
    assert HEADER not in response.headers


async def test_capabilities_say_it_beforehand(serve: Serve) -> None:
    client = await serve(**ANTHROPIC)
    told = await (await client.get("/v1/capabilities")).json()

    assert {"user", "logit_bias", "seed"} <= set(told["ignored_params"]["chat_completions"])
    assert "max_tokens" not in told["ignored_params"]["chat_completions"]
    assert told["models"] == ["test-model"]
