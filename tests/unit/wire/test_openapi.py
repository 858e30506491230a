"""The OpenAPI document, as a function of routes and descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

from hermes.server.described_routes import document_of
from hermes.server.routes import ROUTES
from hermes.wire.openapi import Operation, document
from hermes.wire.schemas.builders import integer, ref, string
from hermes.wire.schemas.catalogue import SCHEMAS
from hermes.wire.schemas.description import (
    EVENTS,
    JSON,
    Answer,
    Body,
    Description,
    answers_json,
    path,
    query,
)

WHOLE = document_of(ROUTES)


def _written(description: Description, *, is_public: bool = False) -> Any:
    operation = Operation(
        name="thing",
        method="POST",
        path="/things/{thing_id}",
        is_public=is_public,
        description=description,
    )
    return document([operation])["paths"]["/things/{thing_id}"]["post"]


def test_a_description_becomes_an_operation() -> None:
    written = _written(
        Description(
            summary="Make a thing",
            area="Things",
            parameters=(path("thing_id", "Its id."), query("limit", "How many.", integer(1))),
            body=Body(schema=string()),
            answers=answers_json(ref("Error"), "Made.", status=201),
            errors=(400,),
        )
    )

    assert (written["operationId"], written["tags"]) == ("thing", ["Things"])
    assert [(entry["name"], entry["in"], entry["required"]) for entry in written["parameters"]] == [
        ("thing_id", "path", True),
        ("limit", "query", False),
    ]
    assert written["requestBody"] == {
        "required": True,
        "content": {JSON: {"schema": {"type": "string"}}},
    }
    assert written["security"] == [{"key": []}]
    assert list(written["responses"]) == ["201", "400", "401", "403", "500"]


def test_every_example_fits_its_schema() -> None:
    for item in WHOLE["paths"].values():
        for operation in item.values():
            for media in operation.get("requestBody", {}).get("content", {}).values():
                if "example" in media:
                    schema = {**media["schema"], "components": WHOLE["components"]}
                    Draft202012Validator(schema).validate(media["example"])


def test_a_public_route_asks_for_no_key() -> None:
    written = _written(Description(summary="", area="", answers={}), is_public=True)

    assert written["security"] == []
    assert "401" not in written["responses"]


def test_a_stream_is_described_by_the_data_of_its_events() -> None:
    answer = Answer(about="Events.", contents={EVENTS: ref("Error")})
    written = _written(Description(summary="", area="", answers={200: answer}))

    event = written["responses"]["200"]["content"][EVENTS]["schema"]
    assert event["properties"]["data"]["contentSchema"] == ref("Error")


def test_a_stream_may_end_with_a_mark_that_is_no_json() -> None:
    answer = Answer(about="Events.", contents={EVENTS: ref("Error")}, has_end_mark=True)
    written = _written(Description(summary="", area="", answers={200: answer}))

    event = written["responses"]["200"]["content"][EVENTS]["schema"]
    assert event["properties"]["data"]["anyOf"][0] == {"const": "[DONE]"}


def test_every_reference_leads_somewhere_and_no_schema_is_left_over() -> None:
    named = set(re.findall(r"#/components/schemas/(\w+)", str(WHOLE)))

    assert named == set(SCHEMAS)


def test_every_schema_is_a_schema() -> None:
    for schema in _schemas(WHOLE):
        Draft202012Validator.check_schema(schema)


def test_every_parameter_of_a_path_is_described() -> None:
    for written_path, item in WHOLE["paths"].items():
        names = set(re.findall(r"{(\w+)}", written_path))
        for operation in item.values():
            entries = operation.get("parameters", ())
            assert {entry["name"] for entry in entries if entry["in"] == "path"} == names


def _schemas(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("schema", "contentSchema"):
                yield inner
            yield from _schemas(inner)
        yield from value.get("schemas", {}).values()
    elif isinstance(value, list):
        for inner in value:
            yield from _schemas(inner)
