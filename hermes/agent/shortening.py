"""Makes what a turn tells its model shorter, step by step, the cheapest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from hermes.agent.accounts import count_aside
from hermes.agent.compressing import (
    beginning,
    cut_before,
    digests,
    divided_note,
    middle_cut,
    note_of,
    parts_of,
    tokens_behind,
    with_short_results,
    without_images,
    without_summary,
)
from hermes.agent.context import NOT_SHORTENED, ContextSeams, Shortened
from hermes.agent.seams import AgentSeams
from hermes.agent.turn_state import TurnState
from hermes.core.errors import ProviderError
from hermes.core.events import Notice
from hermes.core.messages import Message
from hermes.core.summaries import asked_about
from hermes.core.tokens import estimate_tokens
from hermes.fibers import blocking

_RECENT = 0.3
"""The part of the window that the last messages keep."""
_ENOUGH = 0.75
"""Shortening results is enough if it brings the messages below this part of what is allowed."""
_SUMMARY = 0.125
"""The part of the window that a summary may take."""
_PART = 0.4
"""The part of the window that is summarised at once."""
_LARGEST_PART = 30_000
_MOST_PARTS = 8
_OLD_RESULT = 1_000
"""Characters that stay of a tool's result that is not among the last messages."""
_SHORTER_RESULTS = (8_000, 4_000, 2_000, 1_000, 500)
"""The same for the last ones, as far as it is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much a prompt may come to, in our own tokens."""

    window: int
    limit: int
    fixed: int
    """What of it no shortening changes: the system prompt, the tools."""

    @property
    def allowed(self) -> int:
        return self.limit - self.fixed

    @property
    def recent(self) -> int:
        return max(min(int(self.window * _RECENT), self.allowed // 2), 0)


class Shortening:
    """One time that a conversation is made to fit. What comes of it is in `turn.telling`."""

    def __init__(
        self, seams: AgentSeams, context: ContextSeams, turn: TurnState, room: Room
    ) -> None:
        self._seams = seams
        self._context = context
        self._turn = turn
        self._room = room
        self._settled = turn.settled()

    def run(self) -> list[Message]:
        """What is told then. Asks a model where nothing cheaper helps."""
        known = self._turn.telling.shortened
        self._update(blocking(self._known) if known is NOT_SHORTENED else known)
        if self._size > self._room.allowed:
            self._shorten()
        self._turn.telling.estimate = self._room.fixed + self._size
        return self._told

    def _shorten(self) -> None:
        before, size = len(self._told), self._size
        done = self._steps()
        if done:
            blocking(self._remember)
            self._seams.emit(
                Notice(
                    "context_compressed",
                    f"{before} messages of about {size} tokens became {len(self._told)} of about "
                    f"{self._size} to fit into the window of {self._seams.model()}: "
                    f"{', '.join(done)}.",
                )
            )

    def _steps(self) -> list[str]:
        """What was done, in words."""
        if blocking(self._prune):
            return ["old tool results were shortened"]
        done = self._summarise()
        for longest in _SHORTER_RESULTS:
            if self._size <= self._room.allowed:
                break
            if self._retell(with_short_results(self._told, longest)):
                done = [*done[:1], "the last tool results were shortened"]
        return done

    def _update(self, shortened: Shortened) -> None:
        self._shortened = self._turn.telling.shortened = shortened
        self._told = shortened.followed_by(self._settled)
        self._size = estimate_tokens(self._told)

    def _known(self) -> Shortened:
        """The longest beginning of the conversation that was shortened before."""
        found, prefixes = NOT_SHORTENED, self._context.contexts.prefixes
        for digest in digests(self._settled, self._seams.parameters.owner):
            found = prefixes.get(digest) or found
        return found

    def _remember(self) -> None:
        said = self._settled[: self._shortened.count]
        *_, digest = digests(said, self._seams.parameters.owner)
        self._context.contexts.prefixes.put(digest, self._shortened)

    def _prune(self) -> bool:
        """Shorten what tools said long ago, if that is enough."""
        behind = tokens_behind(self._told)
        recent = next(at for at, size in enumerate(behind) if size <= self._room.recent)
        old = without_images(with_short_results(self._told[:recent], _OLD_RESULT))
        size = estimate_tokens(old) + behind[recent]
        return size <= self._room.allowed * _ENOUGH and self._retell([*old, *self._told[recent:]])

    def _retell(self, told: Sequence[Message]) -> bool:
        """Tell the messages in this form, one for one; whether that differs from before."""
        changed = [at for at, message in enumerate(told) if message is not self._told[at]]
        if not changed:
            return False
        shortened = self._shortened
        end = max(changed[-1] + 1, len(shortened.told))
        count = shortened.count + end - len(shortened.told)
        self._update(Shortened(count, tuple(told[:end]), shortened.head))
        return True

    def _summarise(self) -> list[str]:
        told = self._told
        cut = cut_before(told, self._room.recent)
        if cut <= self._shortened.head:
            return []
        before, opening, rest = divided_note(told[:cut])
        if estimate_tokens(rest) < self._room.window * _SUMMARY / 2:
            return []  # a summary would hardly be shorter
        summary = self._summary(before, rest)
        note = note_of(summary or without_summary(before, len(rest)), opening)
        begun = beginning(note, told[:cut], told[cut:], most_request=self._room.recent // 2)
        self._update(self._shortened.cut_at(cut, begun))
        what = "summarised" if summary else "left out, because no summary could be made"
        return [f"{len(rest)} older messages were {what}"]

    def _summary(self, before: str | None, rest: Sequence[Message]) -> str | None:
        """Part after part, each on top of the one before; None when the model fails at it."""
        window = self._window_for_summaries()
        most = max(int(window * _SUMMARY), 64)
        largest = min(int(window * _PART), _LARGEST_PART)
        summary = before
        for part in blocking(partial(parts_of, rest, largest, _MOST_PARTS)):
            said = self._ask(asked_about(summary, part), most)
            if not said:
                return None
            summary = middle_cut(said, most * 4)
        return summary

    def _ask(self, question: str, most: int) -> str:
        """The answer; nothing when there is none."""
        self._turn.api_calls += 1
        try:
            reply = self._context.ask_aside(question, most)
        except ProviderError:
            return ""
        if reply.usage is not None:
            seller = self._context.contexts.rules().summarizer
            count_aside(self._seams, self._turn, reply.usage, seller)
        return "" if reply.error is not None else (reply.text or "").strip()

    def _window_for_summaries(self) -> int:
        contexts = self._context.contexts
        other = contexts.rules().summarizer
        if other is None:
            return self._room.window
        return min(self._room.window, contexts.window(other))
