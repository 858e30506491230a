"""Which model answers: the agent, or an alias that the request names. One place for every route.

An alias is a configured model, or a model of a CLI agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from hermes.core.errors import InvalidRequest, NotFound
from hermes.core.messages import Message
from hermes.server.seams import Seams

MODEL_HEADER = "X-Hermes-Model"


@dataclass(frozen=True, slots=True)
class Routed:
    """Who answers, and what the client is told about it."""

    alias: str | None = None
    """For `TurnParameters.alias`."""
    headers: Mapping[str, str] = field(default_factory=dict)


_TO_AGENT = Routed()


def route_model(seams: Seams, model: str | None) -> Routed:
    """For the `model` of a request. One nobody serves is the agent's, which then says so."""
    agent = seams.model_name()
    if model == agent:
        return _TO_AGENT
    if not model:
        return _to_default(seams.default_alias())
    if seams.served_model(model) is not None:
        return Routed(alias=model)
    if seams.listener.unknown_model == "refuse":
        raise unknown_model(model)
    default = seams.default_alias()
    return Routed(alias=default, headers={MODEL_HEADER: default or agent})


def _to_default(alias: str | None) -> Routed:
    return _TO_AGENT if alias is None else Routed(alias=alias)


def named_model(seams: Seams, model: str | None) -> str:
    """What an answer says that it is from: what was asked for, else whoever answers then."""
    return model or seams.default_alias() or seams.model_name()


def unknown_model(model: str) -> NotFound:
    return NotFound(
        f"The model '{model[:100]}' does not exist; GET /v1/models lists the models.",
        code="model_not_found",
        param="model",
    )


def refuse_unseen_images(
    seams: Seams, alias: str | None, messages: Iterable[Message], *, param: str
) -> None:
    """Images for a model that cannot look at them would be dropped, or break the turn."""
    if not any(_has_image(message) for message in messages):
        return
    served = seams.served_model(alias)
    if served is not None and not served.has_vision:
        raise InvalidRequest(
            f"The model '{alias or seams.model_name()}' cannot look at images; send text, or ask "
            "for another model.",
            param=param,
            code="images_unsupported",
        )


def _has_image(message: Message) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(part.get("type") == "image_url" for part in content)
