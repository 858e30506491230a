"""What the server says about itself."""

from __future__ import annotations

from openai.types import Model

from hermes.wire.capabilities import capabilities, model_object, models_list


def test_endpoints_are_written_as_method_and_path():
    told = capabilities(
        model="hermes-agent",
        auth_required=True,
        endpoints={"sessions": ("GET", "/api/sessions")},
        features={"chat_completions": True},
    )
    assert told["endpoints"] == {"sessions": {"method": "GET", "path": "/api/sessions"}}
    assert told["features"] == {"chat_completions": True}
    assert told["auth"] == {"type": "bearer", "required": True}
    assert told["object"] == "hermes.api_server.capabilities"
    assert (told["platform"], told["model"]) == ("hermes-agent", "hermes-agent")
    assert told["runtime"]["mode"] == "server_agent"
    assert told["runtime"]["split_runtime"] is False
    assert "API-server host" in told["runtime"]["description"]


def test_the_model_list_holds_one_model_the_sdk_can_read():
    listed = models_list(["lucas"], 5)
    assert listed == {"object": "list", "data": [model_object("lucas", 5)]}
    model = Model.model_validate(listed["data"][0], strict=True)
    assert (model.id, model.owned_by, listed["data"][0]["root"]) == ("lucas", "hermes", "lucas")
