"""The door `AIAgent`: what may be set or replaced on it is looked up when it is used."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hermes.contract.chat_shape import completion_from
from hermes.core.errors import SettingsError
from hermes.core.messages import assistant, user
from hermes.core.turn import Usage
from hermes.providers.reply import Reply, ToolCall
from run_agent import AIAgent

WAIT = 5.0


def completion(text: str | None, *calls: ToolCall) -> Any:
    return completion_from(
        Reply(
            text=text,
            reasoning=None,
            tool_calls=calls,
            finish_reason="tool_calls" if calls else "stop",
            usage=Usage(input_tokens=2, output_tokens=3, total_tokens=5),
            raw_usage=None,
            model="m",
        )
    )


class Script:
    """Stands in for both kinds of model call and notes which was used."""

    def __init__(self, agent: AIAgent, *answers: Any) -> None:
        self.used: list[str] = []
        self.requests: list[Any] = []
        self._answers = iter(answers)
        agent._interruptible_streaming_api_call = self._as("stream")  # type: ignore[method-assign]
        agent._interruptible_api_call = self._as("whole")  # type: ignore[method-assign]

    def _as(self, kind: str) -> Any:
        def answer(api_kwargs: Any) -> Any:
            self.used.append(kind)
            self.requests.append(api_kwargs)
            line = next(self._answers)
            if isinstance(line, Exception):
                raise line
            return line

        return answer


def agent_in(workspace: Path, **options: Any) -> AIAgent:
    return AIAgent(model="m", base_url="http://localhost:1/v1", workspace=workspace, **options)


def test_a_replaced_model_call_is_the_one_that_runs(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, session_id="s1")
    script = Script(agent, completion("Hello."))
    told = agent.run_conversation("Hi.", [user("Before.")], task_id="t1")
    assert told["final_response"] == "Hello."
    assert told["messages"] == [user("Before."), user("Hi."), assistant("Hello.")]
    assert (told["completed"], told["outcome"], told["session_id"]) == (True, "completed", "s1")
    assert script.requests[0]["model"] == "m"


def test_a_foreign_completion_is_understood(tmp_path: Path) -> None:
    agent = agent_in(tmp_path)
    message = SimpleNamespace(content="Hello.", tool_calls=None)
    foreign = SimpleNamespace(
        choices=[SimpleNamespace(message=message, finish_reason="stop")], usage=None, model="m"
    )
    Script(agent, foreign)
    assert agent.run_conversation("Hi.")["final_response"] == "Hello."


def test_tokens_are_counted_over_all_turns_of_the_agent(tmp_path: Path) -> None:
    agent = agent_in(tmp_path)
    Script(agent, completion("One."), completion("Two."))
    agent.run_conversation("Hi.")
    told = agent.run_conversation("Hi.")
    counted = (
        agent.session_prompt_tokens,
        agent.session_completion_tokens,
        agent.session_total_tokens,
    )
    assert counted == (4, 6, 10)
    assert told["total_tokens"] == 5


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, "whole"),
        ({"stream_delta_callback": lambda _: None}, "stream"),
        ({"reasoning_callback": lambda _: None}, "stream"),
        ({"api_mode": "codex_responses"}, "stream"),
    ],
)
def test_a_call_nobody_watches_is_made_in_one_piece(
    tmp_path: Path, options: dict[str, Any], kind: str
) -> None:
    agent = agent_in(tmp_path, **options)
    script = Script(agent, completion("Hello."))
    agent.run_conversation("Hi.")
    assert script.used == [kind]


def test_an_agent_whose_provider_cannot_stream_asks_in_one_piece(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, stream_delta_callback=lambda _: None)
    agent._disable_streaming = True
    script = Script(agent, completion("Hello."))
    agent.run_conversation("Hi.")
    assert script.used == ["whole"]


def test_callbacks_set_later_are_called(tmp_path: Path) -> None:
    agent = agent_in(tmp_path)
    call = ToolCall(id="c1", name="list_files", arguments="{}")
    Script(agent, completion("Looking.", call), completion("Empty."))
    seen: list[tuple[Any, ...]] = []
    agent.stream_delta_callback = lambda text: seen.append(("delta", text))
    agent.tool_start_callback = lambda *args: seen.append(("start", *args))
    agent.tool_complete_callback = lambda *args: seen.append(("complete", *args[:3]))
    agent.run_conversation("Hi.")
    assert seen == [
        ("delta", None),
        ("start", "c1", "list_files", {}),
        ("complete", "c1", "list_files", {}),
    ]


def test_an_interrupted_agent_is_usable_again_once_it_is_cleared(tmp_path: Path) -> None:
    agent = agent_in(tmp_path)
    call = ToolCall(id="c1", name="list_files", arguments="{}")
    Script(agent, completion(None, call), completion("Hello."))
    agent.interrupt("Enough")
    told = agent.run_conversation("Hi.")
    assert (told["interrupted"], told["completed"], told["error"]) == (True, False, "Enough")
    agent.clear_interrupt()
    told = agent.run_conversation("Hi.")
    assert told["completed"]
    [listed] = [message["content"] for message in told["messages"] if message["role"] == "tool"]
    assert "Interrupted" not in listed


def test_an_interrupt_wakes_a_turn_that_waits_for_its_provider(tmp_path: Path) -> None:
    agent = agent_in(tmp_path)
    waiting = threading.Event()
    agent.notice_callback = lambda *_: waiting.set()
    busy = ConnectionError("Busy.")
    busy.retry_after = 30.0  # type: ignore[attr-defined]
    Script(agent, busy)
    told: list[dict[str, Any]] = []
    turn = threading.Thread(target=lambda: told.append(agent.run_conversation("Hi.")))
    turn.start()
    assert waiting.wait(WAIT)
    agent.interrupt("Enough")
    turn.join(WAIT)
    assert [result["error"] for result in told] == ["Enough"]


def test_the_fallback_takes_over_model_and_dialect(tmp_path: Path) -> None:
    fallback = {
        "model": "second",
        "api_mode": "anthropic_messages",
        "base_url": "http://localhost:2",
    }
    agent = agent_in(tmp_path, fallback_model=fallback)
    notices: list[tuple[str, str]] = []
    agent.notice_callback = lambda code, message: notices.append((code, message))
    script = Script(agent, ValueError("Wrong key."), completion("Hello."))
    assert agent.run_conversation("Hi.")["completed"]
    assert (agent.model, agent.api_mode) == ("second", "anthropic_messages")
    assert script.requests[1]["model"] == "second"
    assert notices == [("provider_fallback", "Wrong key. Continuing with second.")]


def test_only_the_chosen_toolsets_are_offered(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, enabled_toolsets=["terminal"])
    script = Script(agent, completion("Hello."))
    agent.run_conversation("Hi.")
    names = [entry["function"]["name"] for entry in script.requests[0]["tools"]]
    assert names == ["python", "terminal"]
    agent = agent_in(tmp_path, enabled_toolsets=[])
    script = Script(agent, completion("Hello."))
    agent.run_conversation("Hi.")
    assert "tools" not in script.requests[0]


def test_an_unknown_toolset_is_a_settings_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="magic"):
        agent_in(tmp_path, enabled_toolsets=["magic"]).run_conversation("Hi.")


def test_the_prompt_names_the_workspace_and_ends_with_the_callers_words(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, identity="You are Ada.", ephemeral_system_prompt="Be brief.")
    script = Script(agent, completion("Hello."))
    agent.run_conversation("Hi.")
    prompt = script.requests[0]["messages"][0]["content"]
    assert prompt.startswith("You are Ada.")
    assert str(tmp_path.resolve()) in prompt
    assert prompt.endswith("Be brief.")


def test_a_key_is_never_part_of_what_an_agent_shows_of_itself(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, api_key="sk-secret", headers={"Authorization": "sk-other"})
    assert "sk-" not in repr(agent) + repr(agent._provider)
