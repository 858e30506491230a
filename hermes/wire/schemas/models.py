"""The models that requests may name."""

from __future__ import annotations

from hermes.wire.schemas.builders import (
    NULL,
    constant,
    integer,
    list_of,
    record,
    ref,
    string,
)
from hermes.wire.schemas.description import Description, answers_json, path

AREA = "Models"

SCHEMAS = {
    "Model": record(
        {
            "id": string(shortest=1),
            "object": constant("model"),
            "created": integer(0),
            "owned_by": string(),
            "permission": list_of({}, most=0),
            "root": string(),
            "parent": NULL,
        }
    )
}

DESCRIPTIONS = {
    "models": Description(
        summary="Every model",
        area=AREA,
        answers=answers_json(
            record({"object": constant("list"), "data": list_of(ref("Model"), fewest=1)}),
            "The agent first, then the configured aliases.",
        ),
    ),
    "model": Description(
        summary="One model",
        area=AREA,
        parameters=(path("model_id", "The id of a model; it may contain slashes."),),
        answers=answers_json(ref("Model"), "The model."),
        errors=(404,),
    ),
}
