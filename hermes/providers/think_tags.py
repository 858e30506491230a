"""Takes a model's thoughts out of the text of its answer, where a server left them in it.

Some local servers pass on what the model writes between `<think>` and `</think>` before it
answers. Only at the very beginning: later on the same words are part of the answer.
"""

from __future__ import annotations

_OPENINGS = ("<think>", "<thinking>")


class ThinkTags:
    """Reads an answer piece by piece; a tag may be cut anywhere. One per answer."""

    def __init__(self) -> None:
        self._held = ""
        """What may become a tag, or is space before one."""
        self._closing = ""
        """The tag that ends the thoughts, while there are any."""
        self._is_after = False
        """Whether the thoughts are over, and the answer is about to begin."""
        self.is_done = False
        """Whether everything that comes is the answer."""

    def split(self, piece: str) -> tuple[str, str]:
        """The thought and the text that are certain with this piece."""
        self._held += piece
        text = ""
        if not self._closing:
            text = self._begun() if self._is_after else self._outside()
        return self._inside() if self._closing else ("", text)

    def rest(self) -> str:
        """The answer is over: what looked like a tag was none. Unfinished thoughts are dropped
        with their half of a tag."""
        held, self._held, self.is_done = self._held, "", True
        return "" if self._closing or self._is_after else held

    def _outside(self) -> str:
        begun = self._held.lstrip()
        if begun and begun[0] != "<":
            return self._all()
        for opening in _OPENINGS:
            if begun.startswith(opening):
                self._closing = opening.replace("<", "</")
                self._held = begun[len(opening) :]
                return ""
        if any(opening.startswith(begun) for opening in _OPENINGS):
            return ""
        return self._all()

    def _inside(self) -> tuple[str, str]:
        thought, found, after = self._held.partition(self._closing)
        if not found:
            kept = _overlap(self._held, self._closing)
            cut = len(self._held) - kept
            thought, self._held = self._held[:cut], self._held[cut:]
            return thought, ""
        self._closing, self._held, self._is_after = "", after, True
        return thought, self._begun()

    def _begun(self) -> str:
        """The answer without the empty lines between it and the thoughts."""
        self._held = self._held.lstrip()
        return self._all() if self._held else ""

    def _all(self) -> str:
        held, self._held, self.is_done = self._held, "", True
        return held


def _overlap(text: str, tag: str) -> int:
    """How much of the end of `text` may be the beginning of `tag`."""
    longest = min(len(text), len(tag) - 1)
    return next((size for size in range(longest, 0, -1) if tag.startswith(text[-size:])), 0)
