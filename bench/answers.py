"""What the upstream says, and whether an answer that came through a server is exactly that.

A model's name is its script: `tokens-100` says 100 tokens without a pause, `tokens-50-30ms` says 50
tokens 30 ms apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import orjson

_MODEL = re.compile(r"tokens-(\d+)(?:-(\d+)ms)?")


@dataclass(frozen=True, slots=True)
class Script:
    """The answer of one bench model: how many tokens, and the pause between two of them."""

    tokens: int
    interval: float

    @classmethod
    def of_model(cls, model: str) -> Script:
        match = _MODEL.fullmatch(model)
        if match is None:
            raise ValueError(f"unknown bench model {model!r}: say tokens-<count>[-<pause>ms]")
        return cls(tokens=int(match[1]), interval=int(match[2] or 0) / 1000)

    @property
    def pieces(self) -> list[str]:
        # The first piece has no leading space: a server may trim the ends of a final text.
        return [f"{'' if n == 0 else ' '}word{n:04d}" for n in range(self.tokens)]

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def shortest_seconds(self) -> float:
        """How long the stream takes when nothing on the way costs any time."""
        return max(0, self.tokens - 1) * self.interval


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found in one answer; `problem` is None when the answer is right."""

    problem: str | None = None
    deltas: int = 0


def judge_completion(status: int, body: bytes, script: Script) -> Verdict:
    """A plain completion is right when it has the whole text and stopped by itself."""
    if status != 200:
        return Verdict(f"status {status}: {_excerpt(body)}")
    try:
        choice = orjson.loads(body)["choices"][0]
        text, finish = choice["message"]["content"], choice["finish_reason"]
    except (ValueError, KeyError, IndexError, TypeError):
        return Verdict(f"not a completion: {_excerpt(body)}")
    return Verdict(_difference(text, finish, script))


def judge_stream(status: int, body: bytes, script: Script) -> Verdict:
    """A stream is right when its text is whole, it stopped by itself, and `[DONE]` came last."""
    if status != 200:
        return Verdict(f"status {status}: {_excerpt(body)}")
    *events, last = _data_of(body) or [b""]
    if last != b"[DONE]":
        return Verdict(f"the stream ended with {_excerpt(last)} instead of [DONE]")
    try:
        choices = [choice for event in events for choice in orjson.loads(event)["choices"]]
        contents = [content for choice in choices if (content := choice["delta"].get("content"))]
        finish = [choice["finish_reason"] for choice in choices if choice["finish_reason"]]
    except (ValueError, KeyError, TypeError, AttributeError):
        return Verdict("an event of the stream is not a chunk")
    return Verdict(_difference("".join(contents), ",".join(finish), script), deltas=len(contents))


def _data_of(body: bytes) -> list[bytes]:
    return [line[6:] for line in body.split(b"\n") if line.startswith(b"data: ")]


def _difference(text: Any, finish: Any, script: Script) -> str | None:
    if text != script.text:
        return f"{len(str(text))} characters of text instead of {len(script.text)}, or other ones"
    if finish != "stop":
        return f"finish_reason is {finish!r} instead of 'stop'"
    return None


def _excerpt(body: bytes) -> str:
    return repr(body[:200].decode(errors="replace"))
