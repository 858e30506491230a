"""What the tests of all clients have in common: questions, scripts, tools and pictures."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hermes.testing.replies import Finish, HttpError, Reply, Text, ToolUse
from tests.clients.serving import Served
from tests.clients.stage import Stage

ANSWER = "Hello from the model."
FILE_NAME = "proof-of-the-workspace.txt"

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
"""The parameters of the client's own tool, `get_weather`."""
CITY = {"city": "Oslo"}
REPORT = "4 degrees and rain"
FORECAST = "Take an umbrella."

PERSON = {"name": "Ada", "age": 36}
PERSON_JSON = json.dumps(PERSON)
PERSON_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}

CUT_OFF = Finish("length")
"""The model had more to say than it was allowed to."""

DELETE = "rm -r build"
GONE = "It is gone."

STORY = ["Once ", "upon ", "a ", "time ", "there ", "was."]

LISTED = f"The folder has {FILE_NAME}."


def lists_its_files(stage: Stage, served: Served, then: Iterable[Reply] = ()) -> None:
    """The model uses a tool of the server, then answers. Two model calls, one client request."""
    (served.workspace / FILE_NAME).touch()
    stage.says(ToolUse("list_files", {"path": "."}), Text(LISTED), *then)


def listed_once(stage: Stage) -> bool:
    """The server ran its tool, once; a client that ran it again would have made a third request."""
    return len(stage.requests) == 2 and FILE_NAME in str(stage.tool_results())


def asks_for_the_weather(stage: Stage) -> None:
    """The model calls the client's tool; asked again with the result, it answers."""
    stage.says(ToolUse("get_weather", CITY, id="call_weather"), Text(FORECAST))


def got_the_report(stage: Stage) -> bool:
    """The client's own result reached the model, in the client's second request."""
    return len(stage.requests) == 2 and REPORT in str(stage.tool_results())


def wants_to_delete(stage: Stage, served: Served) -> Path:
    """The model wants to delete the folder that this returns, and is glad once it is gone."""
    folder = served.workspace / "build"
    folder.mkdir(exist_ok=True)
    stage.says(ToolUse("terminal", {"command": DELETE}), Text(GONE))
    return folder


def offered_tools(stage: Stage) -> list[str]:
    return [tool["function"]["name"] for tool in stage.requests[0].body.get("tools", ())]


def answer_format(stage: Stage) -> Any:
    """The schema the model was told to follow."""
    return stage.last["response_format"]["json_schema"]["schema"]


def tells_slowly(stage: Stage) -> str:
    """A story that takes about a second, as one text."""
    stage.says(Text(pieces=STORY, interval=0.2))
    return "".join(STORY)


def answers(_: object) -> Reply:
    return Text(ANSWER)


def is_busy(_: object) -> Reply:
    """A provider's 429, with the time after which another try may help."""
    return HttpError(429, {"error": {"message": "Slow down."}}, {"Retry-After": "1"})


def is_down(_: object) -> Reply:
    return HttpError(503, {"error": {"message": "Overloaded."}}, {"Retry-After": "1"})


def rejects_the_key(_: object) -> Reply:
    """A fault of the operator's settings: the client can do nothing about it."""
    return HttpError(401, {"error": {"message": "Bad key.", "code": "invalid_api_key"}})


def png() -> bytes:
    """The smallest honest picture: one red pixel."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\x00\xff\x00\x00")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(kind, data) for kind, data in ((b"IHDR", header), (b"IDAT", pixel), (b"IEND", b""))
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


PICTURE = "data:image/png;base64," + base64.b64encode(png()).decode()
