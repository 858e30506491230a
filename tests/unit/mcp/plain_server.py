"""A small MCP server without any SDK: quick to start, and ill-mannered when told to.

Its arguments are its manners: `deaf` never answers the handshake, `chatty` prints what is not MCP,
`modern-shy` hangs up when it is asked for the newer protocol, `notes=FILE` writes down
cancellations, `tools=a,b` are its tools.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

MANNERS = dict(manner.partition("=")[::2] for manner in sys.argv[1:])
TOOLS = MANNERS.get("tools", "echo,die,mute,refuse").split(",")


def main() -> None:
    sys.stderr.write("ready for anything\n")
    sys.stderr.flush()
    if "chatty" in MANNERS:
        say("Welcome to the plain server!")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            answer(message)
        elif message["method"] == "notifications/cancelled" and "notes" in MANNERS:
            Path(MANNERS["notes"]).write_text("stopped")


def answer(request: dict[str, Any]) -> None:
    if "deaf" in MANNERS:
        return
    match request["method"]:
        case "initialize":
            info = {"name": "plain", "version": "1"}
            version = request["params"]["protocolVersion"]
            tell(request, protocolVersion=version, capabilities={"tools": {}}, serverInfo=info)
        case "tools/list":
            tell(
                request, tools=[{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]
            )
        case "tools/call":
            call(request, request["params"]["name"], request["params"].get("arguments", {}))
        case _ if "modern-shy" in MANNERS:
            sys.exit(1)
        case _:
            fail(request, "no such method")


def call(request: dict[str, Any], name: str, arguments: dict[str, Any]) -> None:
    match name:
        case "die":
            os._exit(3)
        case "mute":
            pass
        case "refuse":
            fail(request, "not today")
        case _:
            said = json.dumps({"pid": os.getpid(), "arguments": arguments})
            tell(request, content=[{"type": "text", "text": said}])


def tell(request: dict[str, Any], **result: Any) -> None:
    say(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))


def fail(request: dict[str, Any], why: str) -> None:
    error = {"code": -32601, "message": why}
    say(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}))


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
