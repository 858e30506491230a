"""Approvals in words, for clients that know only messages: the question, and what answers it.

Every client can show a text and send one back, so that is all it takes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType

from hermes.core.approvals import CODE_LENGTH, CODE_LETTERS, ApprovalRequest, Decision
from hermes.core.turn import TurnResult

_MARK = "Approval code"
# Clients render, quote and trim; the words and the code survive that.
_MARKED_LINE = re.compile(
    rf"^[ \t>*_]{{0,20}}{_MARK}:[ \t*_`]{{0,20}}"
    rf"([{CODE_LETTERS}]{{{CODE_LENGTH}}})[ \t*_`]{{0,20}}\r?$",
    re.MULTILINE,
)
_TICKS = re.compile(r"`+")
_NO_WORD = re.compile(r"[^\w']+")

_LONGEST_ANSWER = 60

_HIDING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
"""Categories of characters that cannot be told from a space, or from nothing at all."""

_WORDS: Mapping[Decision, str] = MappingProxyType(
    {
        Decision.ONCE: "once, yes, y, yes please, yep, yeah, sure, ok, okay, approve, approved, "
        "allow, run it, yes run it, do it, yes do it, go ahead, yes go ahead, proceed, "
        "just once, yes once, allow once, approve once, only once, this time",
        Decision.SESSION: "session, this session, for this session, in this session, "
        "yes session, yes this session, yes for this session, yes in this session, "
        "allow for this session, approve for this session, allow session, approve session",
        Decision.ALWAYS: "always, yes always, always yes, always allow, allow always, "
        "always approve, approve always, yes always allow",
        Decision.DENY: "deny, denied, no, n, nope, no thanks, no thank you, never, stop, cancel, "
        "abort, reject, rejected, refuse, refused, don't, do not, don't run it, do not run it, "
        "no don't, no don't run it, no do not run it",
    }
)
_DECISIONS: Mapping[str, Decision] = MappingProxyType(
    {word: decision for decision, words in _WORDS.items() for word in words.split(", ")}
)


def question(requests: Sequence[ApprovalRequest]) -> str:
    """In Markdown: what would be done, why nobody else decides it, and how to answer.

    Its last line has the code by which `code_in` finds the question again.
    """
    last = requests[-1]
    answered = "them all" if len(requests) > 1 else "it"
    return "\n\n".join(
        [
            *(_asked(request) for request in requests),
            f"Reply **yes** to run {answered} once, **session** to allow this for the rest of the "
            "session, **always** to allow it from now on, or **no**. Without an answer until "
            f"{_minute(min(request.expires_at for request in requests))} the answer is no.",
            f"{_MARK}: `{last.code}`",
        ]
    )


def answer_text(result: TurnResult) -> str:
    """The text of an answer; where the turn has to ask, with the question."""
    if not result.approvals:
        return result.text
    return result.text + question_after(result, has_text=bool(result.text))


def question_after(result: TurnResult, *, has_text: bool) -> str:
    """What the question adds to what was said; nothing where the turn does not ask."""
    if not result.approvals:
        return ""
    return f"\n\n{question(result.approvals)}" if has_text else question(result.approvals)


def code_in(text: str) -> str | None:
    """The code of the question that an assistant's message ends with."""
    if _MARK not in text:
        return None
    codes = _MARKED_LINE.findall(text)
    return codes[-1] if codes else None


def answer_of(text: str, code: str) -> Decision | None:
    """What a user's message decides; None when it says something else, or asks back.

    The code alone means yes, and may stand beside every other answer.
    """
    words = _plain(text)
    said = _DECISIONS.get(" ".join(words))
    if said is not None or code.lower() not in words:
        # First, because a code may happen to be a word such as NEVER.
        return said
    rest = [word for word in words if word != code.lower()]
    return _DECISIONS.get(" ".join(rest)) if rest else Decision.ONCE


def decision_of(word: str) -> Decision | None:
    """The same without a code."""
    return _DECISIONS.get(" ".join(_plain(word)))


def _plain(text: str) -> list[str]:
    """The words of a short text, without case, punctuation and markup."""
    text = text.strip()
    if len(text) > _LONGEST_ANSWER or "?" in text:
        return []
    folded = unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold()
    words = _NO_WORD.sub(" ", folded.replace("_", " ")).split()
    return [stripped for word in words if (stripped := word.strip("'"))]


def _asked(request: ApprovalRequest) -> str:
    return (
        f"**May I run this?** (`{_visible(request.tool).replace('`', '')}`)\n\n"
        f"{_fenced(_visible(request.shown))}\n\n"
        f"Why I ask: {' '.join(_visible(request.reason).split())}"
    )


def _fenced(text: str) -> str:
    """A block that ends where we say: its fence is longer than any in the text."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}\n{text}\n{fence}"


def _visible(text: str) -> str:
    """Characters that show nothing, or turn the line around, are written out.

    Whoever approves a command must see the command.
    """
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character in " \n\t" or unicodedata.category(character) not in _HIDING:
        return character
    return f"\\u{ord(character):04x}"


def _minute(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M UTC")
