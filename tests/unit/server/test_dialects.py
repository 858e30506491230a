"""The dialect of an answer: the header's word, then the setting's, then the client's habits."""

from __future__ import annotations

from typing import Any

import pytest
from multidict import CIMultiDict

from hermes.core.errors import InvalidRequest
from hermes.core.turn import TurnCall, TurnParameters
from hermes.server.dialects import read_dialect, with_reasoning
from hermes.settings.model import ListenerSettings
from hermes.settings.options import OPTIONS
from hermes.wire.tool_forms import AUDIENCES, CONTRACT_DIALECT, Dialect, ReasoningView

AGENTS = {"User-Agent": "Agents/Python 0.24.0"}


def read(headers: dict[str, str], **settings: Any) -> Dialect:
    return read_dialect(CIMultiDict(headers), ListenerSettings(**settings))


def test_who_says_nothing_gets_what_the_contract_says():
    assert read({}) == CONTRACT_DIALECT == Dialect()


@pytest.mark.parametrize("name", AUDIENCES)
def test_the_header_wins_over_the_setting_and_that_over_the_client(name: str):
    forms = AUDIENCES[name]
    assert read({**AGENTS, "x-hermes-tool-form": name}, tool_form="hidden").forms == forms
    assert read(AGENTS, tool_form=name).forms == forms


def test_a_known_client_gets_its_form_without_asking():
    assert read(AGENTS).forms == AUDIENCES["mcp"]


def test_the_setting_knows_every_form_there_is():
    kind = OPTIONS["listener.tool_form"].kind
    assert [kind.read(name) for name in ["auto", *AUDIENCES]] == ["auto", *AUDIENCES]


@pytest.mark.parametrize(
    ("header", "value", "allowed"),
    [
        ("X-Hermes-Tool-Form", "auto", "default, mcp, open_webui, reasoning, hidden"),
        ("X-Hermes-Tool-Form", "", "default, mcp"),
        ("X-Hermes-Reasoning", "yes", "show, hide"),
        ("X-Hermes-Reasoning", "if_asked", "show, hide"),
    ],
)
def test_a_dialect_nobody_knows_is_refused_with_those_that_exist(
    header: str, value: str, allowed: str
):
    with pytest.raises(InvalidRequest) as refused:
        read({header: value})
    assert (refused.value.code, refused.value.param) == ("invalid_value", header)
    assert allowed in refused.value.message


@pytest.mark.parametrize(
    ("headers", "setting", "view"),
    [
        ({}, False, ReasoningView.IF_ASKED),
        ({}, True, ReasoningView.SHOWN),
        ({"X-Hermes-Reasoning": "hide"}, True, ReasoningView.HIDDEN),
        ({"X-Hermes-Reasoning": "show"}, False, ReasoningView.SHOWN),
    ],
)
def test_thinking_is_shown_as_the_header_says_else_as_the_setting(
    headers: dict[str, str], setting: bool, view: ReasoningView
):
    assert read(headers, show_reasoning=setting).reasoning is view


def test_a_call_can_be_made_to_keep_what_the_model_thinks():
    call = TurnCall(user_message="Hi", parameters=TurnParameters(persist=True))
    assert with_reasoning(call) == TurnCall(
        user_message="Hi", parameters=TurnParameters(persist=True, keeps_reasoning=True)
    )
