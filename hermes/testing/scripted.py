"""Models for tests: they decide what to reply and know nothing of sockets or dialects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hermes.core.errors import HermesError
from hermes.testing.replies import Reply, Text

_PACED_NAME = re.compile(r"tokens-(?P<count>\d{1,7})(?:-(?P<pause>\d{1,6})ms)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request as it came over the wire."""

    dialect: str
    """`chat`, `responses` or `anthropic`."""
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    number: int = 1
    """Counts the provider's requests, from 1."""
    input_tokens: int = 1

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def wants_stream(self) -> bool:
        return self.body.get("stream") is True

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The conversation: `messages`, or the `input` of a Responses request."""
        said = self.body.get("messages", self.body.get("input", ()))
        return ({"role": "user", "content": said},) if isinstance(said, str) else said

    @property
    def last_user_text(self) -> str:
        users = [message for message in self.messages if message.get("role") == "user"]
        return _readable(users[-1].get("content")) if users else ""


class Model(Protocol):
    """Anything that can reply to a request."""

    def reply(self, request: ModelRequest) -> Reply: ...


class ScriptExhausted(HermesError):
    """A scripted model was asked more often than its script has replies."""


class ScriptedModel:
    """Replies from a script, one reply per request, or by asking a function.

    `requests` holds everything it was asked, in order.
    """

    def __init__(self, script: Iterable[Reply] | Callable[[ModelRequest], Reply]) -> None:
        self.requests: list[ModelRequest] = []
        self._choose = script if callable(script) else _in_order(list(script))

    def reply(self, request: ModelRequest) -> Reply:
        self.requests.append(request)
        return self._choose(request)


class EchoModel:
    """Says what the user said last."""

    def reply(self, request: ModelRequest) -> Reply:
        return Text(request.last_user_text)


class StreamOf:
    """Says `text` `count` times, `interval` seconds apart.

    A request may ask for its own measure by the model's name: `tokens-50-30ms` is 50 times with
    30 ms in between, `tokens-100` is 100 times without a pause.
    """

    def __init__(self, count: int = 100, text: str = " token", interval: float = 0.0) -> None:
        self._text = text
        self._reply = Text(pieces=[text] * count, interval=interval)

    def reply(self, request: ModelRequest) -> Reply:
        named = _PACED_NAME.fullmatch(request.model)
        if named is None:
            return self._reply
        pieces = [self._text] * int(named["count"])
        return Text(pieces=pieces, interval=int(named["pause"] or 0) / 1000)


def _in_order(replies: list[Reply]) -> Callable[[ModelRequest], Reply]:
    remaining = iter(replies)

    def choose(_: ModelRequest) -> Reply:
        try:
            return next(remaining)
        except StopIteration:
            raise ScriptExhausted(
                f"The script has {len(replies)} replies and all of them are used; "
                "add one for every request the test makes."
            ) from None

    return choose


def _readable(content: Any) -> str:
    """The text of a string or of content parts, in any dialect."""
    if isinstance(content, str):
        return content
    return "".join(str(part["text"]) for part in content or () if "text" in part)
