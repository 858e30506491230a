"""Which dialect a request is answered in: by its headers, else by the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hermes.core.errors import InvalidRequest
from hermes.core.turn import TurnCall
from hermes.settings.model import ListenerSettings
from hermes.wire.client_signatures import forms_for
from hermes.wire.lenient import shown
from hermes.wire.tool_forms import (
    AUDIENCES,
    CONTRACT_DIALECT,
    DEFAULT_FORMS,
    Dialect,
    ReasoningView,
    ToolForms,
)

TOOL_FORM_HEADER = "X-Hermes-Tool-Form"
REASONING_HEADER = "X-Hermes-Reasoning"

_REASONING = {view.value: view for view in (ReasoningView.SHOWN, ReasoningView.HIDDEN)}


def read_dialect(headers: Mapping[str, str], listener: ListenerSettings) -> Dialect:
    forms, reasoning = _forms(headers, listener), _reasoning(headers, listener)
    if forms is DEFAULT_FORMS and reasoning is ReasoningView.IF_ASKED:
        return CONTRACT_DIALECT  # the usual case, for which nothing is built
    return Dialect(forms=forms, reasoning=reasoning)


def with_reasoning(call: TurnCall) -> TurnCall:
    """The call, but its result holds what the model thinks. A stream sees that as it happens."""
    return replace(call, parameters=replace(call.parameters, keeps_reasoning=True))


def _forms(headers: Mapping[str, str], listener: ListenerSettings) -> ToolForms:
    wanted = headers.get(TOOL_FORM_HEADER)
    if wanted is not None:
        if wanted not in AUDIENCES:
            raise _unknown(TOOL_FORM_HEADER, wanted, AUDIENCES)
        return AUDIENCES[wanted]
    return forms_for(headers) if listener.tool_form == "auto" else AUDIENCES[listener.tool_form]


def _reasoning(headers: Mapping[str, str], listener: ListenerSettings) -> ReasoningView:
    wanted = headers.get(REASONING_HEADER)
    if wanted is not None:
        if wanted not in _REASONING:
            raise _unknown(REASONING_HEADER, wanted, _REASONING)
        return _REASONING[wanted]
    return ReasoningView.SHOWN if listener.show_reasoning else ReasoningView.IF_ASKED


def _unknown(header: str, found: str, allowed: Mapping[str, object]) -> InvalidRequest:
    return InvalidRequest(
        f"The header {header} must be one of {', '.join(allowed)}, not {shown(found)}.",
        param=header,
        code="invalid_value",
    )
