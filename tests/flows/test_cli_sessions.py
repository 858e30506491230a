"""Sessions that a CLI agent goes on with, and what becomes of what it remembers."""

from __future__ import annotations

from pathlib import Path

from hermes.settings.paths import state_db
from hermes_state import SessionDB
from tests.flows.conftest import StartFlow
from tests.flows.hosted import (
    MODEL,
    hosting,
    nothing_is_left,
)


async def test_a_response_can_be_continued_with_the_cli_s_own_memory(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await hosting(flow, tmp_path)
    first = await served.sdk.responses.create(model=MODEL, input="One")
    second = await served.sdk.responses.create(
        model=MODEL, input="Two", previous_response_id=first.id
    )

    assert first.output_text == "echo: One"
    assert second.output_text == "echo: Two (2 heard)"


async def test_a_session_resumes_twice_and_usage_does_not_add_up(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await hosting(flow, tmp_path)
    _, made = await served.answer("POST", "/api/sessions", json={"model": MODEL})
    path = f"/api/sessions/{made['session']['id']}/chat"
    answers = []
    for said in ("One", "Two", "Three"):
        status, answer = await served.answer("POST", path, json={"message": said, "model": MODEL})
        assert status == 200, answer
        answers.append(answer)

    assert [each["message"]["content"] for each in answers] == [
        "echo: One",
        "echo: Two (2 heard)",
        "echo: Three (3 heard)",
    ]
    assert [each["usage"]["total_tokens"] for each in answers] == [167, 167, 167]
    await nothing_is_left(tmp_path / "home")


async def test_a_deleted_session_takes_the_cli_s_files_along(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await hosting(flow, tmp_path)
    _, made = await served.answer("POST", "/api/sessions", json={"model": MODEL})
    session_id = made["session"]["id"]
    await served.answer(
        "POST", f"/api/sessions/{session_id}/chat", json={"message": "One", "model": MODEL}
    )
    homes = tmp_path / "home/cli/sessions/claude"
    assert len(list(homes.iterdir())) == 1

    await served.answer("DELETE", f"/api/sessions/{session_id}")
    assert list(homes.iterdir()) == []


async def test_a_session_that_was_deleted_beside_the_gateway_is_noticed_at_the_start(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await hosting(flow, tmp_path)
    session_ids = []
    for _ in range(2):
        _, made = await served.answer("POST", "/api/sessions", json={"model": MODEL})
        session_ids.append(made["session"]["id"])
        path = f"/api/sessions/{session_ids[-1]}/chat"
        await served.answer("POST", path, json={"message": "One", "model": MODEL})
    await served.gateway.close()
    store = SessionDB(state_db(tmp_path / "home"))
    store.delete_session(session_ids[0])
    store.close()
    await hosting(flow, tmp_path)

    assert len(list((tmp_path / "home/cli/sessions/claude").iterdir())) == 1


async def test_a_turn_that_failed_leaves_nothing_to_go_on_with(
    flow: StartFlow, tmp_path: Path
) -> None:
    served = await hosting(flow, tmp_path)
    _, made = await served.answer("POST", "/api/sessions", json={"model": MODEL})
    path = f"/api/sessions/{made['session']['id']}/chat"
    failed, _ = await served.answer("POST", path, json={"message": "[crash]", "model": MODEL})
    homes = list((tmp_path / "home/cli/sessions/claude").iterdir())
    _, answer = await served.answer("POST", path, json={"message": "Again", "model": MODEL})

    assert (failed, homes) == (502, [])
    assert "[crash]" in answer["message"]["content"]


async def test_a_cli_that_has_forgotten_is_told_everything(flow: StartFlow, tmp_path: Path) -> None:
    served = await hosting(flow, tmp_path)
    _, made = await served.answer("POST", "/api/sessions", json={"model": MODEL})
    path = f"/api/sessions/{made['session']['id']}/chat"
    await served.answer("POST", path, json={"message": "One", "model": MODEL})
    for remembered in (tmp_path / "home/cli/sessions").rglob("*.json"):
        remembered.unlink()
    _, answer = await served.answer("POST", path, json={"message": "Two", "model": MODEL})

    told = answer["message"]["content"]
    assert told.index("One") < told.index("echo: One") < told.index("Two")
