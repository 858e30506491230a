"""Making one text of pieces and wholes: what of a message is still to be said.

CLIs tell a message in pieces while it grows and then once more in whole; and where the provider
broke off they begin it again, or go on where it stopped. What was said cannot be taken back, so
that everything is said once, as early as possible.
"""

from __future__ import annotations

_ANEW = "\n\n"
"""Stands between what turned out not to be the message and the message."""


class Reconciliation:
    """One message, heard in whichever way, and what of it the reader has.

    Every method that hears something returns what has to be said now.
    """

    def __init__(self) -> None:
        self._said: list[str] = []
        self._to_repeat = ""
        """What the reader has and a new attempt has not given again yet."""
        self._goes_on = False
        self._settled = 0
        """How much of the text is final: all before the part that is being heard."""

    @property
    def text(self) -> str:
        """The message as far as it is known."""
        return "".join(self._said)

    def hear(self, piece: str) -> str:
        """The message grows by `piece`."""
        if not self._to_repeat:
            self._said.append(piece)
            return piece
        if self._to_repeat.startswith(piece):
            self._to_repeat = self._to_repeat[len(piece) :]
            return ""
        if piece.startswith(self._to_repeat):
            return self._exceed(piece[len(self._to_repeat) :])
        return self._differ(self._repeated + piece)

    def hear_whole(self, part: str) -> str:
        """The part that was heard in pieces, or was not, is `part` in whole.

        A message may have several parts, one after the other.
        """
        text, settled = self.text, self._settled
        whole = text[:settled] + part
        if self._to_repeat:
            return self._repeat_whole(text, whole)
        self._said = [whole]
        self._settled = len(whole)
        return rest(text[settled:], part)

    def begin_again(self) -> None:
        """The message is told anew from its beginning, perhaps in other words."""
        self._start(goes_on=False)

    def go_on(self) -> None:
        """What follows goes on where the message stopped, or repeats it first."""
        self._start(goes_on=True)

    def _start(self, *, goes_on: bool) -> None:
        self._to_repeat = self.text
        self._goes_on = goes_on
        self._settled = 0

    @property
    def _repeated(self) -> str:
        return self.text.removesuffix(self._to_repeat)

    def _repeat_whole(self, text: str, whole: str) -> str:
        if text.startswith(whole):
            self._to_repeat = text[len(whole) :]
            self._settled = len(whole)
            return ""
        is_longer = whole.startswith(text)
        to_say = self._exceed(whole[len(text) :]) if is_longer else self._differ(whole)
        self._settled = len(self.text)
        return to_say

    def _exceed(self, more: str) -> str:
        self._to_repeat = ""
        self._said.append(more)
        return more

    def _differ(self, heard: str) -> str:
        """This attempt is no repetition: `heard` is all of it so far."""
        self._to_repeat = ""
        if self._goes_on:
            self._settled += len(self.text)
            self._said.append(heard)
            return heard
        self._said = [heard]
        return _ANEW + heard


def rest(said: str, whole: str) -> str:
    """What is left to say of `whole`, of which the reader has `said`."""
    if whole.startswith(said):
        return whole[len(said) :]
    # CLIs trim what they tell in whole.
    said, whole = said.strip(), whole.strip()
    if said.startswith(whole):
        return ""
    return whole[len(said) :] if whole.startswith(said) else _ANEW + whole
