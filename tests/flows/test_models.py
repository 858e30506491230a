"""Models by name, down to what the provider is asked."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from hermes.testing.replies import Text
from hermes.testing.scripted import EchoModel, ScriptedModel
from tests.flows.conftest import StartFlow

HELLO: list[Any] = [{"role": "user", "content": "Hello"}]
MODELS = {
    "quick": {"model": "small", "toolsets": (), "system_prompt": "Be quick."},
    "blind": {"vision": False},
}


async def test_an_alias_asks_its_own_model_in_its_own_way(flow: StartFlow) -> None:
    served = await flow(ScriptedModel([Text("One."), Text("Two.")]), models=MODELS)
    create = served.sdk.chat.completions.create
    answer = await create(model="quick", messages=HELLO)
    await create(model="hermes-agent", messages=HELLO)
    quick, agent = served.requests

    assert answer.model == "quick"
    assert (quick.model, agent.model) == ("small", "fake")
    assert ("tools" in quick.body, "tools" in agent.body) == (False, True)
    assert quick.messages[0]["content"].startswith("Be quick.")


async def test_the_sdk_lists_and_finds_the_models(flow: StartFlow) -> None:
    served = await flow(EchoModel(), models=MODELS)
    listed = [model.id async for model in served.sdk.models.list()]

    assert listed == ["hermes-agent", "quick", "blind"]
    assert (await served.sdk.models.retrieve("quick")).id == "quick"
    with pytest.raises(openai.NotFoundError):
        await served.sdk.models.retrieve("gpt-4o")


async def test_a_strict_gateway_serves_no_other_model(flow: StartFlow) -> None:
    served = await flow(EchoModel(), models=MODELS, unknown_model="refuse")
    with pytest.raises(openai.NotFoundError) as caught:
        await served.sdk.chat.completions.create(model="gpt-4o", messages=HELLO)

    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")
