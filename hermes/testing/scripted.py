"""Models for tests: they decide what to reply and know nothing of sockets or dialects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Protocol

from hermes.core.errors import HermesError
from hermes.testing.replies import Reply, Text
from hermes.testing.requests import ModelRequest as ModelRequest

_PACED_NAME = re.compile(r"tokens-(?P<count>\d{1,7})(?:-(?P<pause>\d{1,6})ms)?")


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

    @property
    def last_request(self) -> ModelRequest:
        """What it was asked last."""
        if not self.requests:
            raise LookupError("The model has not been asked anything yet.")
        return self.requests[-1]

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
