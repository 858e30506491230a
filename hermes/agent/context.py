"""What the agents of a process know about their models' windows, and learn about them.

Shared by all of them, from any thread. Nothing here asks a model.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hermes.core.messages import Message
from hermes.core.tokens import (
    MOST_PER_CHARACTER,
    estimate_tokens,
    quick_bound,
    tools_tokens,
)
from hermes.providers.base import Prompt
from hermes.providers.reply import Reply
from hermes.providers.windows import window_of
from hermes.settings.context_options import ContextSettings
from hermes.settings.model import ProviderSettings

K = TypeVar("K")
V = TypeVar("V")
_Key = tuple[str, str]
"""Where a model is, and its name."""

_MODELS = 256
_TOOLS = 64
_PREFIX_TOKENS = 4_000_000
_LOWEST, _HIGHEST = 0.5, 2.0
"""How far a model's own count may lead us away from the estimate."""
_WORTH_LEARNING = 500
"""Tokens: of a smaller prompt, most is what a provider puts around it."""
_SURELY = 0.3
"""A prompt that takes no more of the window than this is not looked at any closer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How long conversations are kept short, as configured."""

    compress_at: float = ContextSettings().compress_at
    summarizer: ProviderSettings | None = None
    """Who writes summaries; None: the model that answers."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """A shorter form of the first messages of a conversation."""

    count: int
    """How many messages it stands for."""
    told: tuple[Message, ...]
    """What a model is told in their place."""
    head: int = 0
    """How many of `told` make up a summary; each of the others stands for a message of its own."""

    @property
    def weight(self) -> int:
        return estimate_tokens(self.told)

    def followed_by(self, messages: Sequence[Message]) -> list[Message]:
        """What a model is told of the whole conversation."""
        return [*self.told, *messages[self.count :]]

    def cut_at(self, place: int, beginning: Sequence[Message]) -> Shortened:
        """Shorter still: `beginning` stands for what comes before this place in what is told."""
        return Shortened(
            self.count + max(place - len(self.told), 0),
            (*beginning, *self.told[place:]),
            len(beginning),
        )


NOT_SHORTENED = Shortened(0, ())


@dataclass(slots=True)
class Telling:
    """What one turn knows about what it tells its model."""

    shortened: Shortened = NOT_SHORTENED
    estimate: int = 0
    """Of the prompt that was sent last, where it was counted."""
    most_tokens: int | None = None
    """Since a provider refused a prompt: what it is thought to take."""
    prompt: Prompt | None = None
    """What was sent last."""


class Learnt(Generic[K, V]):
    """Values by their keys, up to a weight; the one that was not used for longest goes first."""

    def __init__(self, most: int, weigh: Callable[[V], int] = lambda _value: 1) -> None:
        self._most = most
        self._weigh = weigh
        self._weight = 0
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: K, value: V) -> None:
        weight = self._weigh(value)
        with self._lock:
            if key in self._values:
                self._weight -= self._weigh(self._values.pop(key))
            self._values[key] = value
            self._weight += weight
            while self._weight > self._most:
                self._weight -= self._weigh(self._values.popitem(last=False)[1])


class Contexts:
    """The memory that all agents of a process share about contexts. Bounded."""

    def __init__(self, rules: Callable[[], Rules] = Rules) -> None:
        self.rules = rules
        """Asked for only when a prompt is near its window."""
        self.prefixes: Learnt[str, Shortened] = Learnt(
            _PREFIX_TOKENS, lambda shortened: shortened.weight + 100
        )
        """Shortened beginnings of conversations, by the digest of what they stand for."""
        self._ratios: Learnt[_Key, float] = Learnt(_MODELS)
        self._windows: Learnt[_Key, int] = Learnt(_MODELS)
        self._tools: Learnt[int, tuple[Sequence[Any], int]] = Learnt(_TOOLS)

    def window(self, asked: ProviderSettings) -> int:
        guess = asked.context_window or window_of(asked.model).tokens
        return min(guess, self._windows.get(_key(asked)) or guess)

    def knows_window(self, asked: ProviderSettings) -> bool:
        """Whether somebody said how large it is; our own table may be out of date."""
        return bool(asked.context_window or self._windows.get(_key(asked)))

    def learn_window(self, asked: ProviderSettings, tokens: int) -> None:
        """The provider named it when it refused a prompt."""
        self._windows.put(_key(asked), tokens)

    def ratio(self, asked: ProviderSettings) -> float:
        """How many of the model's tokens one of ours comes to."""
        return self._ratios.get(_key(asked)) or 1.0

    def learn_ratio(self, asked: ProviderSettings, *, estimated: int, counted: int) -> None:
        """Believes at once that there are more, and slowly that there are fewer."""
        if estimated < _WORTH_LEARNING or counted <= 0:
            return
        seen = min(max(counted / estimated, _LOWEST), _HIGHEST)
        before = self._ratios.get(_key(asked))
        if before is not None and seen < before:
            seen = before + (seen - before) / 8
        self._ratios.put(_key(asked), seen)

    def of_tools(self, tools: Sequence[Any]) -> int:
        """The estimate of definitions, which are shared by many calls and looked at once."""
        known = self._tools.get(id(tools))
        if known is None or known[0] is not tools:
            known = (tools, tools_tokens(tools))  # kept, so that its id stays its own
            self._tools.put(id(tools), known)
        return known[1]


def _key(asked: ProviderSettings) -> _Key:
    return asked.base_url, asked.model


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSeams:
    """What keeping a turn within its window may use of the agent it works for."""

    contexts: Contexts
    provider: Callable[[], ProviderSettings]
    """Who is asked now."""
    ask_aside: Callable[[str, int], Reply]
    """Have the summarizer answer a question in so many tokens, while nobody listens.

    Raises `ProviderError` or `Interrupted`."""

    def surely_fits(self, prompt: Prompt) -> bool:
        """Whether a plain conversation is so short that counting would be a waste."""
        bound = quick_bound(prompt.messages)
        if bound is None:
            return False
        bound += MOST_PER_CHARACTER * len(prompt.system or "") + self.contexts.of_tools(
            prompt.tools
        )
        window = self.contexts.window(self.provider())
        return bound * _HIGHEST <= window * _SURELY

    def around(self, prompt: Prompt) -> int:
        """What a prompt comes to beside its messages, in tokens of ours."""
        return estimate_tokens((), prompt=prompt.system) + self.contexts.of_tools(prompt.tools)
