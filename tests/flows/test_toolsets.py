"""Which tools a request gets: by what the operator enabled, and by the key that asks."""

from __future__ import annotations

from hermes.testing.replies import Text
from hermes.testing.scripted import ModelRequest
from tests.flows.conftest import KEY, Flow, StartFlow

READER = "reader-key-0123456789"
NOBODY = "nobody-key-0123456789"
KEYS = {
    "reader": {"key": READER, "toolsets": ["files", "mcp:git"]},
    "nobody": {"key": NOBODY, "toolsets": []},
}


def offered(request: ModelRequest) -> set[str]:
    return {tool["function"]["name"] for tool in request.body.get("tools", ())}


async def ask(served: Flow, key: str, path: str, body: dict[str, object]) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    status, answer = await served.answer("POST", path, json=body, headers=headers)
    assert status in (200, 202), answer


async def test_a_key_gets_the_tools_it_is_allowed_and_no_others(flow: StartFlow) -> None:
    served = await flow(lambda _: Text("Hi."), key=KEY, keys=KEYS)
    chat = {"model": "hermes-agent", "messages": [{"role": "user", "content": "Hi"}]}
    wishes = [
        ("/v1/chat/completions", chat),
        ("/v1/responses", {"model": "hermes-agent", "input": "Hi"}),
        ("/v1/runs", {"input": "Hi", "wait": 10}),
    ]
    for path, body in wishes:
        for key in (KEY, READER, NOBODY):
            await ask(served, key, path, body)
        whole, reader, nobody = served.requests[-3:]
        assert {"terminal", "read_file", "ask_user"} <= offered(whole)
        assert "read_file" in offered(reader)
        assert not offered(reader) & {"terminal", "ask_user", "delegate"}
        assert offered(nobody) == set()


async def test_the_list_of_toolsets_says_what_the_key_may_use(flow: StartFlow) -> None:
    served = await flow([], key=KEY, keys=KEYS)
    enabled = {}
    for key in (KEY, READER):
        headers = {"Authorization": f"Bearer {key}"}
        status, listed = await served.answer("GET", "/v1/toolsets", headers=headers)
        assert status == 200
        enabled[key] = {entry["id"] for entry in listed["data"] if entry["enabled"]}
    assert enabled[READER] == {"files"}
    assert {"files", "terminal", "questions"} <= enabled[KEY]
