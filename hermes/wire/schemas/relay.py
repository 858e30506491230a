"""/v1/messages: for the jobs of CLI agents only; Anthropic describes what is said there."""

from __future__ import annotations

from hermes.wire.schemas.builders import OBJECT
from hermes.wire.schemas.description import Body, Description
from hermes.wire.schemas.errors import WITH_BODY

AREA = "Jobs"

DESCRIPTIONS = {
    name: Description(
        summary=f"{summary}; refused for callers with a key",
        area=AREA,
        body=Body(schema=OBJECT),
        answers={},
        errors=WITH_BODY,
    )
    for name, summary in (
        ("messages", "Passes a job's model call on to its provider"),
        ("message_token_count", "Has a job's model call counted by its provider"),
    )
}
