"""A model whose replies depend on what is talked about, so that many talks can share a provider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes.testing.replies import Reply, Text
from hermes.testing.requests import ModelRequest

_NAMES = ("role", "type", "id")
_LOST = Text("Nobody told me what to say to that.")


@dataclass(slots=True)
class Scene:
    """What is said as soon as its words have been spoken, one reply per request."""

    words: str
    replies: Sequence[Reply | Callable[[ModelRequest], Reply]]
    requests: list[ModelRequest] = field(default_factory=list)
    """What was asked, in order."""

    def next_reply(self, request: ModelRequest) -> Reply:
        """The last one is said again when there are no more."""
        self.requests.append(request)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        return reply(request) if callable(reply) else reply

    @property
    def conversation(self) -> str:
        """All that the newest request says, however its dialect words it."""
        return _said(self.requests[-1])


class Scenes:
    """Plays the scene whose words were spoken last."""

    def __init__(self) -> None:
        self._scenes: list[Scene] = []

    def on(self, words: str, *replies: Reply | Callable[[ModelRequest], Reply]) -> Scene:
        """What to reply from now on when these words are spoken."""
        scene = Scene(words, replies)
        self._scenes.append(scene)
        return scene

    def forget(self) -> None:
        """No scene is played any more; words that are short are spoken by others too."""
        self._scenes.clear()

    def reply(self, request: ModelRequest) -> Reply:
        said = _said(request)
        spoken = [(said.rfind(scene.words), place) for place, scene in enumerate(self._scenes)]
        found, place = max(spoken, default=(-1, 0))
        return self._scenes[place].next_reply(request) if found >= 0 else _LOST


def _said(request: ModelRequest) -> str:
    """The texts of the conversation, one after the other."""
    return "\n".join(_texts(list(request.messages)))


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case list():
            return [text for inner in value for text in _texts(inner)]
        case dict():
            return _texts([inner for name, inner in value.items() if name not in _NAMES])
        case _:
            return []
