"""What a description of a route consists of. The OpenAPI document is written from these alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from hermes.wire.schemas.builders import Schema, string

JSON = "application/json"
EVENTS = "text/event-stream"
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A value of the request that is not in its body."""

    name: str
    place: str
    """`path`, `query` or `header`."""
    about: str
    schema: Schema = field(default_factory=string)


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What the request carries."""

    schema: Schema
    content_type: str = JSON
    is_required: bool = True
    example: Mapping[str, Any] | None = None
    """A request that is answered, where the schema alone cannot say what is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One way in which the route succeeds."""

    about: str
    contents: Mapping[str, Schema]
    """By content type. For a stream the schema is that of the data of each event."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """What each of its headers says, for those that are not on every answer."""
    has_end_mark: bool = False
    """Whether the data of a stream's last event is `[DONE]`, which is no JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """One route, as its callers see it."""

    summary: str
    area: str
    answers: Mapping[int, Answer]
    parameters: tuple[Parameter, ...] = ()
    body: Body | None = None
    errors: tuple[int, ...] = ()
    """The statuses of its own refusals, beside those that every route can give."""


def path(name: str, about: str) -> Parameter:
    return Parameter(name=name, place="path", about=about, schema=string(shortest=1))


def query(name: str, about: str, schema: Schema) -> Parameter:
    return Parameter(name=name, place="query", about=about, schema=schema)


def header(name: str, about: str, schema: Schema) -> Parameter:
    return Parameter(name=name, place="header", about=about, schema=schema)


def answers_json(
    schema: Schema,
    about: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] = NO_HEADERS,
) -> dict[int, Answer]:
    return {status: Answer(about=about, contents={JSON: schema}, headers=headers)}
