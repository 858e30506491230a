"""What the reader of a stream has already been told, so that the end can add what is missing.

Models, retries and contract callbacks may deliver a final text that was never, or only partly,
streamed. Every encoder asks here what to add: nothing said twice, nothing lost.
"""

from __future__ import annotations

from hermes.core.turn import Outcome, TurnResult

_SPOKEN_BEFORE = (Outcome.WAITING, Outcome.ASKING)


class StreamedAnswer:
    """The text streamed since the last tool, by segment. One instance per stream."""

    def __init__(self) -> None:
        self._before_tools: list[str] = []
        self._closed: list[str] = []
        self._open: list[str] = []
        self.has_text = False

    def add(self, text: str) -> None:
        self._open.append(text)
        self.has_text = True

    @property
    def is_mid_segment(self) -> bool:
        return bool(self._open)

    def end_segment(self) -> None:
        if self._open:
            self._closed.append("".join(self._open))
            self._open.clear()

    def tool_ran(self) -> None:
        """What comes next answers the tool, so nothing said before counts as the final text."""
        self._before_tools += [*self._closed, *self._open]
        self._closed.clear()
        self._open.clear()

    def missing_from_end(self, result: TurnResult) -> str:
        """What the reader has not seen of the result's text."""
        if result.outcome in _SPOKEN_BEFORE and self._has_seen(result.text):
            # The model spoke and then called tools that wait; others may have run in between.
            return ""
        return self.missing_from(result.text)

    def _has_seen(self, text: str) -> bool:
        return text in "".join([*self._before_tools, *self._closed, *self._open])

    def missing_from(self, final: str) -> str:
        """The end of `final` that the reader has not seen; empty when it has been said."""
        segment = "".join(self._open)
        if final == segment:
            return ""  # as it should be: nothing more to compare
        if self._was_said(final, segment) or not final.startswith(segment):
            return ""
        return final[len(segment) :]

    def _was_said(self, final: str, segment: str) -> bool:
        """True when the last segments, taken together, are `final` but for white space."""
        wanted, tail = _squeeze(final), ""
        for said in [segment, *reversed(self._closed)]:
            tail = _squeeze(said) + tail
            if tail and tail == wanted:
                return True
        return False


def _squeeze(text: str) -> str:
    return "".join(text.split())
