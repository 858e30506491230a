"""What a job may ask for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hermes.backends.bridge.claude import Errand
from hermes.backends.bridge.execute import ExecuteRequest, parse_execute
from hermes.backends.bridge.settings import BridgeSettings
from hermes.core.errors import InvalidRequest

SETTINGS = BridgeSettings(workspace=Path("/srv"), max_budget_usd=2.0, execute_timeout_seconds=60.0)


def parse(**fields: Any) -> ExecuteRequest:
    return parse_execute(json.dumps(fields).encode(), SETTINGS)


def test_a_prompt_is_enough_and_the_rest_is_the_operators_choice() -> None:
    errand = Errand(model="sonnet", prompt="go", max_budget_usd=2.0, timeout_seconds=60.0)
    assert parse(prompt="go") == ExecuteRequest(errand, None)


def test_a_job_may_ask_for_less() -> None:
    asked = parse(
        prompt="go",
        model="haiku",
        agent="team:triage",
        max_budget_usd=0.5,
        timeout_seconds=5,
        metadata={"ticket": 7},
    )
    errand = Errand(
        model="haiku", prompt="go", agent="team:triage", max_budget_usd=0.5, timeout_seconds=5.0
    )
    assert asked == ExecuteRequest(errand, {"ticket": 7})


@pytest.mark.parametrize(
    ("param", "value"),
    [
        ("prompt", None),
        ("prompt", "  "),
        ("prompt", 7),
        ("agent", "--dangerously-skip-permissions"),
        ("agent", ""),
        ("agent", ["x"]),
        ("max_budget_usd", 2.5),
        ("max_budget_usd", 0),
        ("max_budget_usd", True),
        ("timeout_seconds", 61),
        ("timeout_seconds", "5"),
        ("timeout_seconds", float("nan")),
        ("metadata", [1]),
        ("metadata", {"x": "y" * 20_000}),
    ],
)
def test_what_cannot_be_is_refused_by_name(param: str, value: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse(**({"prompt": "go"} | {param: value}))
    assert refused.value.param == param
    assert refused.value.message == "invalid request"


def test_another_model_is_refused_with_the_list() -> None:
    with pytest.raises(InvalidRequest, match="unsupported model"):
        parse(prompt="go", model="gpt-4o")


def test_a_prompt_can_always_be_an_argument() -> None:
    prompt = parse(prompt="a\0b\ud800").errand.prompt
    assert "\0" not in prompt
    prompt.encode()
