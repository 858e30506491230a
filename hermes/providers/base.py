"""What every dialect offers, and which dialect speaks which api mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from hermes.core.errors import SettingsError
from hermes.providers.anthropic import Anthropic
from hermes.providers.chat_completions import ChatCompletions
from hermes.providers.prompt import Prompt as Prompt
from hermes.providers.reply import ReplyBuilder
from hermes.providers.responses import Responses


class Dialect(Protocol):
    """One provider wire. Stateless: an instance may serve any number of calls at once."""

    api_mode: str

    def request(self, prompt: Prompt) -> dict[str, Any]:
        """The keyword arguments for the SDK-shaped client call."""

    def open(self, client: Any, api_kwargs: Mapping[str, Any]) -> Any:
        """The client's stream for these arguments; give it to `streams.consume`."""

    def create(self, client: Any, api_kwargs: Mapping[str, Any]) -> Any:
        """The client's whole answer, not streamed; give it to `read_whole`. Blocks."""

    def feed(self, event: Any, into: ReplyBuilder) -> None:
        """Translate one event. Raises ProviderError when the event tells of a failure."""

    def finish(self, final: Any, into: ReplyBuilder) -> None:
        """Add what only the stream's final object knows; None adds nothing."""

    def read_whole(self, response: Any, into: ReplyBuilder) -> None:
        """Translate an answer that was not streamed."""


_DIALECTS: Mapping[str, Dialect] = {
    dialect.api_mode: dialect for dialect in (ChatCompletions(), Responses(), Anthropic())
}


def dialect_for(api_mode: str) -> Dialect:
    try:
        return _DIALECTS[api_mode]
    except KeyError:
        raise SettingsError("api_mode", api_mode, ", ".join(_DIALECTS)) from None
