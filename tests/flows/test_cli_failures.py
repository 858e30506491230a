"""CLI agents that fail, any other CLI, and what no job may know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hermes.settings.cli_settings import CliClocks, DeclaredCli
from tests.flows.conftest import StartFlow
from tests.flows.hosted import (
    chat,
    hosting,
    nothing_is_left,
    script,
    text_of,
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
