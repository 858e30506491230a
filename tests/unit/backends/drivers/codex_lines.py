"""Lines as `codex app-server` writes them, cut down to what matters."""

from __future__ import annotations

import json
from typing import Any

THREAD = "01a1e3e6-54c4-7703-bef3-f6a9792b6408"
TURN = "01a1e3e6-5636-7102-b924-107f7a742f94"


def answer(call_id: int, result: Any) -> bytes:
    return json.dumps({"id": call_id, "result": result}).encode()


def refusal(call_id: int, message: str) -> bytes:
    return json.dumps({"id": call_id, "error": {"code": -32600, "message": message}}).encode()


def notice(method: str, *, thread: str = THREAD, **params: Any) -> bytes:
    told = {"method": method, "params": {"threadId": thread, **params}, "emittedAtMs": 1}
    return json.dumps(told).encode()


def delta(text: str, *, item: str = "msg_1", thread: str = THREAD) -> bytes:
    return notice("item/agentMessage/delta", thread=thread, turnId=TURN, itemId=item, delta=text)


def message(text: str, *, item: str = "msg_1") -> bytes:
    return notice("item/completed", item={"type": "agentMessage", "id": item, "text": text})


def command(event: str, **fields: Any) -> bytes:
    item = {"type": "commandExecution", "id": "call_1", "command": "bash -lc 'ls'", "cwd": "/w"}
    return notice(f"item/{event}", item={**item, **fields})


def usage(read: int, written: int, *, turn: str = TURN, last: int = 0) -> bytes:
    total = {"inputTokens": read, "outputTokens": written, "totalTokens": read + written}
    told = {"total": total, "last": {"inputTokens": last, "totalTokens": last}}
    return notice("thread/tokenUsage/updated", turnId=turn, tokenUsage=told)


def end(status: str = "completed", error: Any = None) -> bytes:
    return notice("turn/completed", turn={"id": TURN, "status": status, "error": error})


def retry() -> bytes:
    error = {"message": "Reconnecting... 1/1", "additionalDetails": "stream disconnected"}
    return notice("error", error=error, willRetry=True, turnId=TURN)


OPENED = {
    "thread": {"id": THREAD},
    "model": "gpt-5.5",
    "activePermissionProfile": {"id": "hermes", "extends": None},
}
GREETED = {"userAgent": "hermes/0.166.0 (Debian 12; x86_64) unknown (hermes; 1)"}
