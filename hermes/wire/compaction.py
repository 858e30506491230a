"""A conversation made short: what `POST /v1/responses/compact` hands out, and how it is read again.

The content is signed, not secret: whoever sends it sent or read its words before. The signature
keeps others from putting words into an agent's past.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import zlib
from collections.abc import Sequence
from typing import Any

from hermes.core.messages import Message, summary_note
from hermes.wire.response_input import foreign_compaction

_MARK = "hc1."
_MOST_BYTES = 32 * 1024 * 1024
"""What a content may unfold to; a small text can hold a very long one."""

_MOST_KEPT = 20_000
"""How many characters of the last exchange stay as they are."""


def shortened(messages: Sequence[Message], summary: str) -> list[Message]:
    """What the agent is told instead of `messages`: their summary, and the last exchange."""
    return [summary_note(summary), *_last_exchange(messages)]


def _last_exchange(messages: Sequence[Message]) -> list[Message]:
    """From the last thing the user said on, unless that is too long to be worth keeping."""
    asked = [at for at, message in enumerate(messages) if message["role"] == "user"]
    kept = list(messages[asked[-1] :]) if asked else []
    return kept if len(json.dumps(kept)) <= _MOST_KEPT else []


def seal(messages: Sequence[Message], key: bytes) -> str:
    """The messages as one opaque text that only the owner of `key` can have written."""
    packed = zlib.compress(json.dumps(list(messages), ensure_ascii=False).encode("utf-8"))
    signed = _signature(packed, key) + packed
    return _MARK + base64.urlsafe_b64encode(signed).decode("ascii")


def unseal(sealed: str, key: bytes, param: str) -> list[Message]:
    """The messages again; `InvalidRequest` for a text that was not made with `key`."""
    if not sealed.startswith(_MARK):
        raise foreign_compaction(param)
    try:
        signed = base64.b64decode(sealed[len(_MARK) :], altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise foreign_compaction(param) from None
    size = hashlib.sha256().digest_size
    signature, packed = signed[:size], signed[size:]
    if not hmac.compare_digest(signature, _signature(packed, key)):
        raise foreign_compaction(param)
    messages: list[Message] = json.loads(zlib.decompressobj().decompress(packed, _MOST_BYTES))
    return messages


def _signature(packed: bytes, key: bytes) -> bytes:
    return hmac.new(key, packed, hashlib.sha256).digest()


def compaction_object(
    *, compaction_id: str, item_id: str, created_at: int, sealed: str, usage: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": compaction_id,
        "object": "response.compaction",
        "created_at": created_at,
        "output": [{"id": item_id, "type": "compaction", "encrypted_content": sealed}],
        "usage": usage,
    }
