"""The model behind the gateway: every test writes what it says and looks at what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hermes.testing.fake_provider_thread import FakeProviderThread
from hermes.testing.replies import Broken, Reply, Text
from hermes.testing.scripted import ModelRequest, ScriptedModel

_SECONDS_TO_NOTICE = 1.0


class Play:
    """A model for `FakeProviderThread` that gets a new script for every test."""

    def __init__(self) -> None:
        self.scripted = ScriptedModel([])

    def reply(self, request: ModelRequest) -> Reply:
        return self.scripted.reply(request)


class Stage:
    """One test's view of the provider: `says` writes the script, the rest looks at the requests."""

    def __init__(self, play: Play, provider: FakeProviderThread) -> None:
        self._play = play
        self._provider = provider
        self._left_before = provider.disconnects
        play.scripted = ScriptedModel([])

    def says(self, *replies: Reply) -> None:
        """One reply per request, in order; a request too many is refused with 400."""
        self._play.scripted = ScriptedModel(replies)

    def always(self, choose: Callable[[ModelRequest], Reply]) -> None:
        self._play.scripted = ScriptedModel(choose)

    @property
    def requests(self) -> list[ModelRequest]:
        return self._play.scripted.requests

    @property
    def last(self) -> Mapping[str, Any]:
        """The body of the last request."""
        return self.requests[-1].body

    def images(self) -> list[str]:
        """The URLs of all images the model was shown in the last request."""
        parts = (part for message in self.requests[-1].messages for part in _parts(message))
        return [part["image_url"]["url"] for part in parts if part.get("type") == "image_url"]

    def tool_results(self) -> list[Any]:
        """The contents of the tool messages of the last request."""
        messages = self.requests[-1].messages
        return [message["content"] for message in messages if message.get("role") == "tool"]

    def starts_and_waits(self) -> None:
        """Some words, and then silence until the client leaves."""
        self.says(Broken(after=Text(pieces=["Once ", "upon ", "a time "]), how="stall"))

    def wait_until_left(self) -> None:
        """Return when the provider's client has left, or raise `TimeoutError` after a second."""
        self._provider.wait_for_disconnects(self._left_before + 1, within=_SECONDS_TO_NOTICE)


def _parts(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    content = message.get("content")
    return content if isinstance(content, list) else ()
