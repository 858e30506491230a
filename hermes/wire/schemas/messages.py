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
_ID = string(shortest=1)
_IMAGE_FILE = request({"file_id": _ID}, {"detail": string()})
_BASE64 = string(shortest=1, pattern=r"^(data:[A-Za-z0-9_.+/-]*;base64,)?[A-Za-z0-9+/]*={0,2}$")
_FILE_MORE = {"filename": string(), "file_url": constant(None)}
_FILE_BY_ID = request({"file_id": _ID}, {**_FILE_MORE, "file_data": constant(None)})
_FILE_ITSELF = request({"file_data": _BASE64}, {**_FILE_MORE, "file_id": constant(None)})
_INPUT_FILE = {"type": constant("input_file")}

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
    "ImageFilePart": any_of(
        request({"type": constant("input_image"), "file_id": _ID}, {"detail": string()}),
        record({"type": constant("image_file"), "image_file": _IMAGE_FILE}),
    ),
    "FilePart": any_of(
        record({"type": constant("file"), "file": any_of(_FILE_BY_ID, _FILE_ITSELF)}),
        request({**_INPUT_FILE, "file_id": _ID}, {**_FILE_MORE, "file_data": constant(None)}),
        request({**_INPUT_FILE, "file_data": _BASE64}, {**_FILE_MORE, "file_id": constant(None)}),
    ),
    "Part": any_of(
        ref("TextPart"),
        ref("RefusalPart"),
        ref("ImagePart"),
        ref("ImageFilePart"),
        ref("FilePart"),
    ),
    "Text": any_of(string(), list_of(any_of(ref("TextPart"), ref("RefusalPart")))),
    "Content": any_of(string(), list_of(ref("Part"))),
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
