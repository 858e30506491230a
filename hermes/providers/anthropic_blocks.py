"""A conversation as turns of content blocks, as Anthropic's wire wants them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hermes.core.messages import Content, Message, text_of, tool_calls_of
from hermes.core.turn import AnswerFormat
from hermes.providers.caching import MARK
from hermes.providers.fields import encode_json, parse_json
from hermes.providers.prompt import Prompt, function_of, replay_items

API_MODE = "anthropic_messages"

Block = dict[str, Any]

_SYSTEM_ROLES = frozenset({"system", "developer"})
THINKING = frozenset({"thinking", "redacted_thinking"})
_DATA_URL = re.compile(
    r"data:([\w.+-]+/[\w.+-]+)(?:;[^,;]*)*;base64,(.*)", re.DOTALL | re.IGNORECASE
)
_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")
_NOTHING = {"type": "text", "text": "(empty)"}


def system_blocks(prompt: Prompt) -> list[Block]:
    """The system prompt and every system message, marked as worth caching."""
    texts = [prompt.system or ""]
    texts += [text_of(m.get("content")) for m in prompt.messages if _is_system(m)]
    texts.append(_format_instruction(prompt.answer_format))
    blocks: list[Block] = [{"type": "text", "text": text} for text in texts if text.strip()]
    if blocks:
        blocks[-1]["cache_control"] = MARK
    return blocks


def _format_instruction(wanted: AnswerFormat | None) -> str:
    """This wire has no parameter for the form of an answer that all its models know."""
    if wanted is None:
        return ""
    plea = "Your final answer must be {form} and nothing else: no words around it, no code block."
    if wanted.schema is None:
        return plea.format(form="one JSON object")
    schema = encode_json(wanted.schema).decode()
    about = f" ({wanted.description})" if wanted.description else ""
    form = f"one JSON value, called {wanted.name}{about}, that is valid by the schema below"
    return f"{plea.format(form=form)}\n\n{schema}"


def conversation(messages: Sequence[Message]) -> list[Message]:
    """Turns that alternate between user and assistant, beginning with the user."""
    turns: list[Message] = []
    for message in messages:
        if _is_system(message):
            continue
        role = "assistant" if message.get("role") == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"].extend(_blocks(message))
        else:
            turns.append({"role": role, "content": _blocks(message)})
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": []})
    return [{**turn, "content": turn["content"] or [_NOTHING]} for turn in turns]


def may_think(turns: Sequence[Message]) -> bool:
    """Whether thinking may be asked for: not amid a round of tools that began without it."""
    if len(turns) < 2 or not any(b["type"] == "tool_result" for b in turns[-1]["content"]):
        return True
    return turns[-2]["content"][0]["type"] in THINKING


def without_thinking(turns: Sequence[Message]) -> list[Message]:
    """A request that does not think may not contain thinking either."""
    kept = []
    for turn in turns:
        blocks = [block for block in turn["content"] if block["type"] not in THINKING]
        kept.append({**turn, "content": blocks or [_NOTHING]})
    return kept


def with_cache_marks(turns: list[Message]) -> list[Message]:
    """Mark the end of the conversation, so that the next call reads the prefix from the cache.

    And where it ended at the call before: what was marked there is looked for only so many blocks
    back from a mark.
    """
    marked = {len(turns) - 1, len(turns) - 3}
    return [_marked(turn) if place in marked else turn for place, turn in enumerate(turns)]


def _marked(turn: Message) -> Message:
    *blocks, final = turn["content"]
    if final["type"] in THINKING:
        return turn
    return {**turn, "content": [*blocks, {**final, "cache_control": MARK}]}


def _is_system(message: Message) -> bool:
    return message.get("role") in _SYSTEM_ROLES


def _blocks(message: Message) -> list[Block]:
    role = message.get("role")
    if role == "assistant":
        return _assistant_blocks(message)
    if role == "tool":
        return [_tool_result(message)]
    return _content_blocks(message.get("content"))


def _assistant_blocks(message: Message) -> list[Block]:
    text = text_of(message.get("content"))
    said: list[Block] = [{"type": "text", "text": text}] if text.strip() else []
    said.extend(_tool_use(call) for call in tool_calls_of(message))
    return [*replay_items(message, API_MODE), *said] if said else []


def _tool_use(call: dict[str, Any]) -> Block:
    function = function_of(call)
    return {
        "type": "tool_use",
        "id": _fit_id(call.get("id")),
        "name": function.get("name"),
        "input": _input(function.get("arguments")),
    }


def _input(arguments: Any) -> dict[str, Any]:
    """The arguments as an object; what a model broke off cannot be sent back and becomes empty."""
    try:
        parsed = parse_json(arguments.encode()) if isinstance(arguments, str) else arguments
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _tool_result(message: Message) -> Block:
    return {
        "type": "tool_result",
        "tool_use_id": _fit_id(message.get("tool_call_id")),
        "content": _content_blocks(message.get("content")) or [_NOTHING],
    }


def _content_blocks(content: Content | None) -> list[Block]:
    if not isinstance(content, list):
        return [{"type": "text", "text": content}] if content and content.strip() else []
    blocks = (_block(part) for part in content)
    return [block for block in blocks if block is not None]


def _block(part: dict[str, Any]) -> Block | None:
    if part.get("type") == "image_url":
        image = part.get("image_url")
        return _image(str(image.get("url") if isinstance(image, dict) else image))
    text = str(part.get("text", ""))
    return {"type": "text", "text": text} if text.strip() else None


def _image(url: str) -> Block:
    inline = _DATA_URL.fullmatch(url)
    if inline is None:
        return {"type": "image", "source": {"type": "url", "url": url}}
    source = {"type": "base64", "media_type": inline[1], "data": inline[2]}
    return {"type": "image", "source": source}


def _fit_id(call_id: Any) -> str:
    """Ids of other providers may contain characters that this one refuses."""
    return _NOT_IN_IDS.sub("_", str(call_id or "unknown"))
