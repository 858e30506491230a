"""What Codex asks its client: which of it a person decides, and what is answered to the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hermes.backends.drivers import codex_items
from hermes.backends.drivers.foreign_json import Json, text
from hermes.backends.drivers.json_rpc import Called
from hermes.backends.saying import PermissionAsked

_REASONS = {
    "item/commandExecution/requestApproval": "wants to run a command outside its sandbox",
    "item/fileChange/requestApproval": "wants to change files that it may not change",
}
"""The questions that a person can decide."""

_DENIALS: Mapping[str, Mapping[str, Any]] = {
    **{method: {"decision": "decline"} for method in _REASONS},
    "item/permissions/requestApproval": {"permissions": {}, "scope": "turn"},
    "mcpServer/elicitation/request": {"action": "decline", "content": None, "_meta": None},
    "item/tool/requestUserInput": {"answers": {}},
}


def question(call: Called, item: Json, workspace: str) -> PermissionAsked | None:
    """What a person is to decide about `item`, the call that it belongs to; None: nothing."""
    reason = _REASONS.get(call.method)
    if reason is None:
        return None
    # The request has its own words for the command: it may be about a part of it.
    told = {name: call.params[name] for name in ("command", "cwd") if call.params.get(name)}
    kind = {"type": "command_execution"} if told else {}
    wanted = codex_items.without_home({**kind, **item, **told}, workspace)
    why = text(call.params, "reason")
    return PermissionAsked(
        id=str(call.id),
        call_id=text(call.params, "itemId"),
        tool=codex_items.name_of(wanted),
        arguments=codex_items.arguments_of(wanted),
        shown=codex_items.shown(wanted),
        reason=f"{reason}: {why}" if why else reason,
    )


def denial(call: Called) -> Mapping[str, Any] | None:
    """How Codex is told that it may not; None: it is no question that we know."""
    return _DENIALS.get(call.method)


def decision(*, is_allowed: bool) -> Mapping[str, Any]:
    return {"decision": "accept" if is_allowed else "decline"}
