"""A client that believes the OpenAPI document, and nothing else.

It asks by the names of the operations. What an answer has that the document does not mention is a
fault too, although the document lets readers ignore it: every record is closed here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from jsonschema import Draft202012Validator

Seen = tuple[str, int, str]
"""An operation, a status and a content type."""


@dataclass(slots=True)
class DescribedClient:
    http: aiohttp.ClientSession
    url: str
    document: dict[str, Any]
    seen: set[Seen] = field(default_factory=set)

    async def ask(
        self,
        name: str,
        status: int = 200,
        /,
        *,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        **values: Any,
    ) -> Any:
        """The answer, after a look at all that is said of it: JSON, bytes, or the events' data.

        Other values are those of the path and of the query, by their names.
        """
        method, path, operation = self._operation(name)
        options = _options(operation, body, values)
        async with self.http.request(method, self.url + path.format(**values), **options) as answer:
            raw = await answer.read()
            assert answer.status == status, f"{name}: {answer.status} {raw[:500]!r}"
            assert "X-Request-Id" in answer.headers, f"{name}: no request id"
            kind = answer.content_type
        described = operation["responses"][str(status)]["content"]
        assert kind in described, f"{name}: {kind} is not described"
        self.seen.add((name, status, kind))
        return self._checked(name, kind, described[kind]["schema"], raw)

    def successes(self) -> set[Seen]:
        """Every way of succeeding that the document promises."""
        return {
            (operation["operationId"], int(status), kind)
            for item in self.document["paths"].values()
            for operation in item.values()
            for status, described in operation["responses"].items()
            if int(status) < 400
            for kind in described.get("content", ())
        }

    def _operation(self, name: str) -> tuple[str, str, dict[str, Any]]:
        return next(
            (method, path, operation)
            for path, item in self.document["paths"].items()
            for method, operation in item.items()
            if operation["operationId"] == name
        )

    def _checked(self, name: str, kind: str, schema: dict[str, Any], raw: bytes) -> Any:
        if kind == "application/json":
            return self._valid(name, schema, json.loads(raw))
        if kind != "text/event-stream":
            return raw
        told = schema["properties"]["data"]
        told = told["anyOf"][1] if "anyOf" in told else told
        lines = raw.decode().splitlines()
        data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
        assert data, f"{name}: no events"
        return [
            self._valid(name, told["contentSchema"], json.loads(text))
            for text in data
            if text != "[DONE]"
        ]

    def _valid(self, name: str, schema: dict[str, Any], value: Any) -> Any:
        whole = {**closed(schema), "components": closed(self.document["components"])}
        faults = [
            f"{'.'.join(map(str, fault.absolute_path)) or 'the whole'}: {fault.message[:300]}"
            for fault in Draft202012Validator(whole).iter_errors(value)
        ]
        assert not faults, f"{name} answers otherwise than described: {faults}"
        return value


def _options(operation: dict[str, Any], body: Any, values: dict[str, Any]) -> dict[str, Any]:
    places = {entry["name"]: entry["in"] for entry in operation.get("parameters", ())}
    options: dict[str, Any] = {
        "params": {key: value for key, value in values.items() if places[key] == "query"}
    }
    if body is not None:
        options["data" if isinstance(body, aiohttp.FormData) else "json"] = body
    return options


def closed(schema: Any) -> Any:
    """The same schema without room for keys that it does not mention, unless it says so."""
    if isinstance(schema, list):
        return [closed(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    is_record = inner.get("type") == "object" and "properties" in inner
    return {"additionalProperties": False, **inner} if is_record else inner
