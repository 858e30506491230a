"""What is said to the agent: content parts and tool calls, as both dialects write them."""

from __future__ import annotations

from hermes.wire.chat_parameters import (
    LONGEST_METADATA_KEY,
    LONGEST_METADATA_VALUE,
    MOST_METADATA,
)
from hermes.wire.schemas.builders import (
    any_of,
    constant,
    list_of,
    map_of,
    one_of,
    record,
    ref,
    request,
    string,
)

_URL = string(pattern=r"^(data:image/[A-Za-z0-9_.+-]+;base64,.|https?://.)")

SCHEMAS = {
    "TextPart": record(
        {"type": one_of("text", "input_text", "output_text"), "text": string()},
    ),
    "RefusalPart": record({"type": constant("refusal"), "refusal": string()}),
    "ImagePart": request(
        {
            "type": one_of("image_url", "input_image"),
            "image_url": any_of(_URL, request({"url": _URL}, {"detail": string()})),
        },
        {"detail": string()},
    ),
    "Text": any_of(string(), list_of(any_of(ref("TextPart"), ref("RefusalPart")))),
    "Content": any_of(
        string(), list_of(any_of(ref("TextPart"), ref("RefusalPart"), ref("ImagePart")))
    ),
    "ToolCall": record(
        {
            "id": string(shortest=1),
            "type": constant("function"),
            "function": record({"name": string(shortest=1), "arguments": string()}),
        }
    ),
}

METADATA = {
    **map_of(string(longest=LONGEST_METADATA_VALUE), most=MOST_METADATA),
    "propertyNames": string(longest=LONGEST_METADATA_KEY),
}
"""Notes of the client's own."""
