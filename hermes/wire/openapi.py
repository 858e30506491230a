"""The OpenAPI 3.1 document of everything that is served, from the routes and their descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from hermes.wire.schemas.builders import Schema, any_of, constant, record, ref, string
from hermes.wire.schemas.catalogue import SCHEMAS
from hermes.wire.schemas.description import EVENTS, JSON, Answer, Body, Description, Parameter
from hermes.wire.schemas.errors import ALWAYS, MEANINGS, WITHOUT_KEY

REQUEST_ID = "X-Request-Id"
_SECURITY = "key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A route, and what is said of it."""

    name: str
    method: str
    path: str
    is_public: bool
    description: Description


def document(operations: Iterable[Operation]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Hermes Gateway",
            "version": version("hermes-gateway"),
            "description": "An agent server that every OpenAI client can talk to.",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "headers": {REQUEST_ID: _request_id_header()},
            "securitySchemes": {_SECURITY: {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: Operation) -> dict[str, Any]:
    description = operation.description
    written: dict[str, Any] = {
        "operationId": operation.name,
        "summary": description.summary,
        "tags": [description.area],
        "security": [] if operation.is_public else [{_SECURITY: []}],
        "responses": _responses(description, is_public=operation.is_public),
    }
    if description.parameters:
        written["parameters"] = [_parameter(parameter) for parameter in description.parameters]
    if description.body is not None:
        written["requestBody"] = _body(description.body)
    return written


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.place == "path",
        "description": parameter.about,
        "schema": parameter.schema,
    }


def _body(body: Body) -> dict[str, Any]:
    media: dict[str, Any] = {"schema": body.schema}
    if body.example is not None:
        media["example"] = body.example
    return {"required": body.is_required, "content": {body.content_type: media}}


def _responses(description: Description, *, is_public: bool) -> dict[str, Any]:
    refused = {*description.errors, *ALWAYS, *(() if is_public else WITHOUT_KEY)}
    succeeded = {status: _answer(answer) for status, answer in description.answers.items()}
    failed = {status: _refusal(status) for status in refused}
    return {str(status): written for status, written in sorted({**failed, **succeeded}.items())}


def _answer(answer: Answer) -> dict[str, Any]:
    headers = {
        name: {"description": says, "schema": string()} for name, says in answer.headers.items()
    }
    return {
        "description": answer.about,
        "headers": {**_request_id(), **headers},
        "content": {
            kind: {"schema": _event(schema, answer) if kind == EVENTS else schema}
            for kind, schema in answer.contents.items()
        },
    }


def _event(schema: Schema, answer: Answer) -> Schema:
    """One event of a stream; readers of OpenAPI 3.1 take the schema of a stream for this."""
    data: Schema = {"type": "string", "contentMediaType": JSON, "contentSchema": schema}
    if answer.has_end_mark:
        data = any_of(constant("[DONE]"), data)
    return record({"data": data}, {"event": string(), "id": string()})


def _refusal(status: int) -> dict[str, Any]:
    return {
        "description": MEANINGS[status],
        "headers": _request_id(),
        "content": {JSON: {"schema": ref("Error")}},
    }


def _request_id() -> Mapping[str, Any]:
    return {REQUEST_ID: {"$ref": f"#/components/headers/{REQUEST_ID}"}}


def _request_id_header() -> dict[str, Any]:
    return {
        "description": "Names this request in the gateway's log.",
        "required": True,
        "schema": string(shortest=1),
    }
