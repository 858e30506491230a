"""CLI agents as models: routes, streams, tools, approvals, sessions, stops, limits, failures."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from hermes.core.cli_agents import Profile
from hermes.settings.cli_settings import CliClocks, DeclaredCli
from hermes.settings.paths import state_db
from hermes_state import SessionDB
from tests.flows.conftest import StartFlow, eventually
from tests.flows.described import DescribedClient
from tests.flows.hosted import (
    EDIT,
    MODEL,
    chat,
    hosting,
    nothing_is_left,
    processes_of_jobs,
    script,
)
from tests.flows.run_client import RUNS, begin, ended, events, in_state, kinds, read, until

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


def text_of(answer: Any) -> str:
    return str(answer["choices"][0]["message"]["content"])


class TestChat:
    async def test_a_completion_has_the_cli_s_answer_usage_and_cost(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        status, answer = await chat(served, "Hello")

        assert (status, text_of(answer)) == (200, "echo: Hello")
        assert answer["model"] == MODEL
        assert answer["usage"]["prompt_tokens"] == 150
        assert answer["usage"]["completion_tokens"] == 17
        assert answer["usage"]["prompt_tokens_details"]["cached_tokens"] == 30
        assert answer["usage"]["cost_usd"] == 0.25
        await nothing_is_left(tmp_path / "home")

    async def test_a_stream_has_each_word_once_and_in_order(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        chunks = [
            chunk.choices[0].delta.content
            async for chunk in await served.sdk.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "[slow: 3]"}], stream=True
            )
            if chunk.choices and chunk.choices[0].delta.content
        ]

        assert len(chunks) > 1
        assert "".join(chunks) == "word0 word1 word2"

    async def test_its_tools_are_the_server_s_and_no_calls_for_the_client(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, profile=Profile.READ_ONLY)
        body = {
            "model": MODEL,
            "stream": True,
            "messages": [{"role": "user", "content": "[tool]"}],
        }
        streamed = read(await served.text("/v1/chat/completions", body))
        _, whole = await chat(served, "[tool]")

        assert not any(
            choice["delta"].get("tool_calls")
            for chunk in streamed
            for choice in chunk.get("choices", [])
        )
        assert whole["choices"][0]["finish_reason"] == "stop"
        assert text_of(whole) == "There is a.txt."

    async def test_a_client_s_history_is_told_and_nothing_is_kept(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        _, answer = await chat(
            served,
            "",
            messages=[
                {"role": "user", "content": "My name is Ada."},
                {"role": "assistant", "content": "Hello Ada."},
                {"role": "user", "content": "Who am I?"},
            ],
        )

        told = text_of(answer)
        assert told.index("My name is Ada.") < told.index("Hello Ada.") < told.index("Who am I?")
        assert not (tmp_path / "home/cli.db").exists()
        assert not list((tmp_path / "home/cli").glob("sessions/*/*"))

    async def test_images_reach_it(self, flow: StartFlow, tmp_path: Path) -> None:
        served = await hosting(flow, tmp_path)
        url = f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"
        parts = [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": url}}]
        _, answer = await chat(served, "", messages=[{"role": "user", "content": parts}])

        assert text_of(answer) == "echo: Look with 1 image"

    async def test_sampling_and_client_tools_are_named_as_without_effect(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        function = {"type": "function", "function": {"name": "f", "parameters": {}}}
        body = {
            "model": MODEL,
            "temperature": 0.1,
            "tools": [function],
            "messages": [{"role": "user", "content": "Hi"}],
        }
        async with served.http.post(served.gateway.url + "/v1/chat/completions", json=body) as got:
            assert got.status == 200
            assert got.headers["X-Hermes-Ignored-Params"] == "temperature, tools"

    async def test_an_answer_that_must_be_json_is_checked(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, transport="one-shot")
        wanted = {"response_format": {"type": "json_object"}}
        status, refused = await chat(served, "No JSON at all", **wanted)

        assert (status, refused["error"]["code"]) == (502, "invalid_structured_output")


class TestModels:
    async def test_they_are_listed_and_validated(self, flow: StartFlow, tmp_path: Path) -> None:
        served = await hosting(flow, tmp_path)
        names = [model.id async for model in served.sdk.models.list()]
        unknown, answer = await chat(served, "Hi", model="claude/gpt-5")

        assert names == ["hermes-agent", "claude/haiku", "claude/sonnet", "claude/opus"]
        assert (unknown, answer["error"]["code"]) == (404, "model_not_found")

    async def test_a_request_may_lower_the_profile_and_not_raise_it(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, profile=Profile.READ_ONLY)
        lowered, _ = await chat(served, "Hi", model="claude/haiku@chat")
        raised, answer = await chat(served, "Hi", model="claude/haiku@edit")

        assert lowered == 200
        assert (raised, answer["error"]["code"]) == (403, "profile_not_allowed")

    async def test_the_default_agent_answers_what_nobody_else_does(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, cli={"default": "claude"})
        messages = [{"role": "user", "content": "Hi"}]
        _, unnamed = await served.answer(
            "POST", "/v1/chat/completions", json={"messages": messages}
        )
        _, unknown = await chat(served, "Hi", model="gpt-4o")

        assert text_of(unnamed) == text_of(unknown) == "echo: Hi"
        assert unnamed["model"] == "claude/sonnet"

    async def test_what_is_said_of_them_is_as_described(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        _, document = await served.answer("GET", "/openapi.json")
        client = DescribedClient(served.http, served.gateway.url, document)
        health = await client.ask("health_detailed")
        messages = [{"role": "user", "content": "[tool]"}]
        for is_stream in (False, True):
            body = {"model": MODEL, "messages": messages, "stream": is_stream}
            await client.ask("chat_completions", body=body)
            body = {"model": MODEL, "input": "[tool]", "stream": is_stream}
            await client.ask("responses", body=body)

        assert health["cli_agents"] == [
            {"name": "claude", "running": 0, "queued": 0, "max_running": 2}
        ]


class TestResponsesAndSessions:
    async def test_a_response_can_be_continued_with_the_cli_s_own_memory(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        first = await served.sdk.responses.create(model=MODEL, input="One")
        second = await served.sdk.responses.create(
            model=MODEL, input="Two", previous_response_id=first.id
        )

        assert first.output_text == "echo: One"
        assert second.output_text in ("echo: Two (2 heard)",) or "One" in second.output_text

    async def test_a_session_resumes_twice_and_usage_does_not_add_up(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        _, made = await served.answer("POST", "/api/sessions", json={"model": MODEL})
        path = f"/api/sessions/{made['session']['id']}/chat"
        answers = []
        for said in ("One", "Two", "Three"):
            status, answer = await served.answer(
                "POST", path, json={"message": said, "model": MODEL}
            )
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
        self, flow: StartFlow, tmp_path: Path
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
        self, flow: StartFlow, tmp_path: Path
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
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        _, made = await served.answer("POST", "/api/sessions", json={"model": MODEL})
        path = f"/api/sessions/{made['session']['id']}/chat"
        failed, _ = await served.answer("POST", path, json={"message": "[crash]", "model": MODEL})
        homes = list((tmp_path / "home/cli/sessions/claude").iterdir())
        _, answer = await served.answer("POST", path, json={"message": "Again", "model": MODEL})

        assert (failed, homes) == (502, [])
        assert "[crash]" in answer["message"]["content"]

    async def test_a_cli_that_has_forgotten_is_told_everything(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        _, made = await served.answer("POST", "/api/sessions", json={"model": MODEL})
        path = f"/api/sessions/{made['session']['id']}/chat"
        await served.answer("POST", path, json={"message": "One", "model": MODEL})
        for remembered in (tmp_path / "home/cli/sessions").rglob("*.json"):
            remembered.unlink()
        _, answer = await served.answer("POST", path, json={"message": "Two", "model": MODEL})

        told = answer["message"]["content"]
        assert told.index("One") < told.index("echo: One") < told.index("Two")


class TestApprovals:
    async def test_a_call_is_asked_about_and_made_by_the_process_that_waits(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, **EDIT)
        run = await begin(served, input="[ask: npm install]", model=MODEL)
        run = await in_state(served, run["id"], "waiting_for_approval")
        [asked] = run["approvals"]
        waiting = processes_of_jobs(tmp_path / "home")
        await served.answer("POST", f"{RUNS}/{run['id']}/approval", json={"decision": "once"})
        run = await ended(served, run["id"])

        assert (asked["tool"], asked["command"]) == ("Bash", "npm install")
        assert waiting, "the process waits for the decision"
        assert run["output"] == "It ran."
        told = await events(served, run["id"])
        asked_at = kinds(told).index("approval.requested")
        assert [kind for kind in kinds(told) if kind.startswith("tool.")] == [
            "tool.started",
            "tool.finished",
        ]
        assert kinds(told).index("tool.started") > asked_at
        await nothing_is_left(tmp_path / "home")

    async def test_a_call_that_is_denied_is_not_made(self, flow: StartFlow, tmp_path: Path) -> None:
        served = await hosting(flow, tmp_path, **EDIT)
        run = await begin(served, input="[ask: npm install]", model=MODEL)
        await in_state(served, run["id"], "waiting_for_approval")
        await served.answer("POST", f"{RUNS}/{run['id']}/approval", json={"decision": "deny"})
        run = await ended(served, run["id"])

        assert run["output"].startswith("It did not run: Denied by the user")

    async def test_a_decision_that_comes_late_holds_for_another_process(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, cli={"park_seconds": 0.0}, **EDIT)
        run = await begin(served, input="[ask: npm install]", model=MODEL)
        await in_state(served, run["id"], "waiting_for_approval")
        await nothing_is_left(tmp_path / "home")
        await served.answer("POST", f"{RUNS}/{run['id']}/approval", json={"decision": "once"})
        run = await ended(served, run["id"])

        assert "The user has approved this call" in run["output"]
        assert "npm install" in run["output"]

    async def test_a_chat_asks_in_its_own_words(self, flow: StartFlow, tmp_path: Path) -> None:
        served = await hosting(flow, tmp_path, **EDIT)
        _, asked = await chat(served, "[ask: npm install]")
        question = text_of(asked)
        assert "npm install" in question
        _, answer = await chat(
            served,
            "",
            messages=[
                {"role": "user", "content": "[ask: npm install]"},
                {"role": "assistant", "content": question},
                {"role": "user", "content": "yes"},
            ],
        )

        assert text_of(answer) == "It ran."

    async def test_below_edit_nothing_is_asked(self, flow: StartFlow, tmp_path: Path) -> None:
        served = await hosting(flow, tmp_path, profile=Profile.READ_ONLY)
        _, answer = await chat(served, "[ask: npm install]")

        assert text_of(answer).startswith(("It did not run", "I may not ask"))


class TestStopping:
    async def test_a_client_that_leaves_takes_every_process_along(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        body = {
            "model": MODEL,
            "stream": True,
            "messages": [{"role": "user", "content": "[child]"}],
        }
        async with served.http.post(served.gateway.url + "/v1/chat/completions", json=body) as got:
            await until(got, "moment")
            assert len(processes_of_jobs(tmp_path / "home")) >= 2
        await nothing_is_left(tmp_path / "home")

    async def test_a_run_that_is_stopped_is_cancelled_with_what_it_said(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        run = await begin(served, input="[slow]", model=MODEL)
        async with served.http.get(f"{served.gateway.url}{RUNS}/{run['id']}/events") as got:
            await until(got, "word3")
            await served.answer("POST", f"{RUNS}/{run['id']}/stop")
        run = await ended(served, run["id"])

        assert run["status"] == "cancelled"
        await nothing_is_left(tmp_path / "home")

    async def test_a_gateway_that_closes_ends_its_jobs(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path)
        run = await begin(served, input="[child]", model=MODEL)
        await eventually(lambda: len(processes_of_jobs(tmp_path / "home")) >= 2)
        await served.gateway.close()

        assert run["id"] and processes_of_jobs(tmp_path / "home") == []


class TestCapacity:
    async def test_one_too_many_is_refused_and_nothing_is_stored(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, cli={"max_running": 1, "max_queued": 0})
        run = await begin(served, input="[hang]", model=MODEL)
        await eventually(lambda: bool(processes_of_jobs(tmp_path / "home")))
        body = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}]}
        async with served.http.post(served.gateway.url + "/v1/chat/completions", json=body) as got:
            refused = await got.json()
            assert got.status == 429
            assert int(got.headers["Retry-After"]) >= 1
        await served.answer("POST", f"{RUNS}/{run['id']}/stop")

        assert refused["error"]["code"] == "cli_queue_full"

    async def test_whoever_waits_is_told_the_place_and_comes_next(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, cli={"max_running": 1})
        first = await begin(served, input="[hang]", model=MODEL)
        await eventually(lambda: bool(processes_of_jobs(tmp_path / "home")))
        second = await begin(served, input="Hi", model=MODEL)
        async with served.http.get(f"{served.gateway.url}{RUNS}/{second['id']}/events") as got:
            await until(got, "number 1 in line")
        _, health = await served.answer("GET", "/health/detailed")
        await served.answer("POST", f"{RUNS}/{first['id']}/stop")
        done = await ended(served, second["id"])

        assert health["cli_agents"] == [
            {"name": "claude", "running": 1, "queued": 1, "max_running": 2}
        ]
        assert done["output"] == "echo: Hi"

    async def test_a_warm_process_answers_and_is_replaced(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, warm=1, models=("haiku",), profile=Profile.CHAT)
        await eventually(lambda: bool(processes_of_jobs(tmp_path / "home")), within=10)
        waiting = processes_of_jobs(tmp_path / "home")
        _, answer = await chat(served, "Hi")

        assert text_of(answer) == "echo: Hi"
        await eventually(
            lambda: (
                bool(processes_of_jobs(tmp_path / "home"))
                and processes_of_jobs(tmp_path / "home") != waiting
            ),
            within=10,
        )


class TestAnyOtherCli:
    """`driver: command`."""

    async def test_its_lines_add_up_to_the_answer(self, flow: StartFlow, tmp_path: Path) -> None:
        teller = script(
            tmp_path,
            "teller",
            "import json, sys\n"
            "said = sys.stdin.read()\n"
            "for word in ('You said: ', said):\n"
            "    print(json.dumps({'message': {'text': word}}), flush=True)\n"
            "print(json.dumps({'tokens': {'in': 7, 'out': 3}, 'cost': 0.5}))",
        )
        declared = DeclaredCli(
            output="jsonl",
            text_field="message.text",
            input_tokens_field="tokens.in",
            output_tokens_field="tokens.out",
            cost_field="cost",
        )
        served = await hosting(
            flow, tmp_path, name="teller", driver="command", command=teller, declared=declared
        )
        status, answer = await chat(served, "--version", model="teller")

        assert (status, text_of(answer)) == (200, "You said: --version")
        assert answer["usage"]["total_tokens"] == 10
        assert answer["usage"]["cost_usd"] == 0.5

    async def test_what_it_prints_is_the_answer(self, flow: StartFlow, tmp_path: Path) -> None:
        echo = script(tmp_path, "echo-it", "import sys; print(sys.argv[-1])")
        served = await hosting(
            flow,
            tmp_path,
            name="plain",
            driver="command",
            command=echo,
            declared=DeclaredCli(prompt_by="argument"),
        )
        _, answer = await chat(served, "Hello", model="plain")

        assert text_of(answer).strip() == "Hello"

    async def test_one_that_exits_with_an_error_has_not_answered(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        broken = script(tmp_path, "broken", "import sys; print('half'); sys.exit('no luck')")
        served = await hosting(flow, tmp_path, name="broken", driver="command", command=broken)
        status, answer = await chat(served, "Hello", model="broken")

        assert (status, answer["error"]["code"]) == (502, "cli_failed")
        assert "no luck" in answer["error"]["message"]


class TestFailures:
    @pytest.mark.parametrize(
        ("said", "status", "code", "words"),
        [
            ("[crash]", 502, "cli_failed", "boom"),
            ("[garbage]", 502, "cli_failed", ""),
            ("[refused: 401]", 502, "provider_error", "401"),
            ("[refused: 429]", 429, "rate_limit_exceeded", "429"),
            ("[refused: 500]", 503, "provider_unavailable", "500"),
            ("[refused: 400]", 400, "provider_refused", "400"),
        ],
    )
    async def test_every_end_but_an_answer_is_an_error(
        self,
        flow: StartFlow,
        tmp_path: Path,
        said: str,
        status: int,
        code: str,
        words: str,
    ) -> None:
        served = await hosting(flow, tmp_path)
        found, answer = await chat(served, said)

        assert (found, answer["error"]["code"]) == (status, code), answer
        assert words in answer["error"]["message"]
        await nothing_is_left(tmp_path / "home")

    async def test_one_that_falls_silent_is_ended(self, flow: StartFlow, tmp_path: Path) -> None:
        served = await hosting(flow, tmp_path, clocks=CliClocks(idle_seconds=0.5))
        status, answer = await chat(served, "[child]")

        assert (status, answer["error"]["code"]) == (502, "cli_timeout"), answer
        await nothing_is_left(tmp_path / "home")

    async def test_one_that_is_not_there_says_what_to_do(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, command=("no-such-claude",))
        status, answer = await chat(served, "Hi")

        assert (status, answer["error"]["code"]) == (503, "cli_unavailable")
        assert "npm install -g @anthropic-ai/claude-code" in answer["error"]["message"]


class TestSecrets:
    async def test_one_that_must_be_relayed_is_not_started_without_a_key(
        self, flow: StartFlow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
        served = await hosting(flow, tmp_path, api_key="", relay="always")
        status, answer = await chat(served, "Hi")

        assert (status, answer["error"]["code"]) == (503, "cli_unavailable")
        assert "api_key_env" in answer["error"]["message"]

    async def test_a_provider_that_repeats_the_key_tells_it_to_nobody(
        self, flow: StartFlow, tmp_path: Path
    ) -> None:
        served = await hosting(flow, tmp_path, api_key="hunter2-provider", relay="never")
        _, answer = await chat(served, "[refused: 401]")

        assert "refused the key" in answer["error"]["message"]
        assert "hunter2" not in json.dumps(answer)

    async def test_a_job_knows_none_of_ours(
        self, flow: StartFlow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("API_SERVER_KEY", "hunter2-gateway")
        monkeypatch.setenv("OTHER_TOKEN", "hunter2-other")
        served = await hosting(flow, tmp_path, api_key="hunter2-provider")
        _, answer = await chat(served, "[env]")
        environment = json.loads(text_of(answer))

        assert "hunter2" not in json.dumps(environment)
        assert environment["ANTHROPIC_BASE_URL"] == served.gateway.url
        assert environment["ANTHROPIC_API_KEY"].startswith("hgw-job-")
        assert environment["HOME"].startswith(str(tmp_path / "home/cli"))
