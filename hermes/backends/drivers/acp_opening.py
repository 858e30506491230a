"""Opening a session with an ACP agent: what is called for it, or why it cannot be. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hermes.backends.drivers.endings import failed
from hermes.backends.drivers.foreign_json import Json, at, items, text
from hermes.backends.jobs import Setup
from hermes.backends.saying import Ending

PROTOCOL = 1

GREETING = {
    "protocolVersion": PROTOCOL,
    # No files and no terminals of ours: what the agent does it does itself, and asks before.
    "clientCapabilities": {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
    },
    "clientInfo": {"name": "hermes", "title": "Hermes Gateway", "version": "1"},
}


@dataclass(frozen=True, slots=True)
class Call:
    """What to call next."""

    method: str
    params: dict[str, Any]


def session_call(setup: Setup, folder: Path, agent: Json) -> Call | Ending:
    """How the session is opened, once the agent has said what it is."""
    version = at(agent, "protocolVersion")
    if version != PROTOCOL:
        message = f"The agent speaks version {version} of ACP, and Hermes version {PROTOCOL}."
        return failed(f"{message} Update the agent.", code="bad_request")
    params: dict[str, Any] = {"cwd": str(folder), "mcpServers": []}
    session = setup.session
    if session is None or not session.is_resumed:
        return Call("session/new", params)
    if at(agent, "agentCapabilities", "loadSession") is not True:
        return failed("The agent remembers no sessions.", code="cli_session_unknown")
    return Call("session/load", {**params, "sessionId": session.id})


def model_call(setup: Setup, session_id: str | None, opened: Json) -> Call | Ending | None:
    """How the model is chosen in a session that is open; None: there is nothing to choose.

    Agents have either a list of models or a list of options, of which one is the model.
    """
    wanted = setup.model
    if wanted is None:
        return None
    option = next((one for one in items(opened, "configOptions") if _is_model(one)), None)
    if option is not None:
        choices = {text(one, "value"): text(one, "name") for one in items(option, "options")}
        chosen = _among(wanted, choices)
        change = {"configId": text(option, "id"), "value": chosen}
        call = Call("session/set_config_option", {"sessionId": session_id, **change})
        return _unless_set(call, wanted, chosen, choices, at(option, "currentValue"))
    models = items(opened, "models", "availableModels")
    if not models:
        return None
    choices = {text(model, "modelId"): text(model, "name") for model in models}
    chosen = _among(wanted, choices)
    call = Call("session/set_model", {"sessionId": session_id, "modelId": chosen})
    return _unless_set(call, wanted, chosen, choices, at(opened, "models", "currentModelId"))


def takes_images(agent: Json) -> bool:
    return at(agent, "agentCapabilities", "promptCapabilities", "image") is True


def _is_model(option: Json) -> bool:
    return "model" in (text(option, "id"), text(option, "category"))


def _among(wanted: str, choices: Mapping[str, str]) -> str | None:
    """The id of the choice that is meant: agents put their provider's name before a model's."""
    for chosen, name in choices.items():
        if wanted in (chosen, name) or chosen.endswith(f"/{wanted}"):
            return chosen
    return None


def _unless_set(
    call: Call, wanted: str, chosen: str | None, choices: Mapping[str, str], current: Any
) -> Call | Ending | None:
    if chosen is None:
        offered = ", ".join(list(choices)[:20])
        return failed(f"The agent has no model {wanted}; it has {offered}.", code="bad_request")
    return None if chosen == current else call
