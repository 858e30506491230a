"""A long conversation made shorter: where it may be cut, what is left of its parts. Pure.

What comes out is lawful for every dialect: a call and its result stay together, the user begins,
and after a summary the roles alternate.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import accumulate

from hermes.core.messages import (
    SUMMARY,
    Message,
    assistant,
    summary_note,
    text_of,
    tool_calls_of,
)
from hermes.core.summaries import line
from hermes.core.tokens import message_tokens, text_tokens

OPENING = "\n\nThe conversation began with these words:\n"
_MOST_OPENING = 2_000
_GOES_ON = assistant("I know what happened so far and go on from there.")
_LEFT_OUT = "\n[… {count} characters left out …]\n"
_PICTURE = {"type": "text", "text": "[an image that is not shown any more]"}
_SHORTEST_LINE = 200


def cuts(messages: Sequence[Message]) -> Iterator[int]:
    """The places before which a conversation may be cut: no call is open there."""
    open_calls: set[str] = set()
    for place, message in enumerate(messages):
        if place and not open_calls and message["role"] in ("user", "assistant"):
            yield place
        open_calls |= {str(call.get("id")) for call in tool_calls_of(message)}
        open_calls.discard(str(message.get("tool_call_id")))


def cut_before(messages: Sequence[Message], tokens: int) -> int:
    """Where the last messages begin that come to no more than `tokens`; 0: nowhere.

    Where even the last step is longer, it begins there. A user's words are the better beginning,
    if that does not give away more than half of what would fit.
    """
    behind = tokens_behind(messages)
    places = list(cuts(messages))
    fitting = [place for place in places if behind[place] <= tokens]
    if not fitting:
        return places[-1] if places else 0
    turns = [place for place in fitting if messages[place]["role"] == "user"]
    if turns and behind[turns[0]] * 2 >= behind[fitting[0]]:
        return turns[0]
    return fitting[0]


def tokens_behind(messages: Sequence[Message]) -> list[int]:
    """For each place, how much the messages from there on come to."""
    sizes = [message_tokens(message) for message in reversed(messages)]
    return [*reversed(list(accumulate(sizes))), 0]


def with_short_results(messages: Sequence[Message], longest: int) -> list[Message]:
    """Results of tools are cut to `longest` characters; nothing that anybody said is."""
    return [_with_short_result(message, longest) for message in messages]


def without_images(messages: Sequence[Message]) -> list[Message]:
    return [_without_images(message) for message in messages]


def _with_short_result(message: Message, longest: int) -> Message:
    if message["role"] != "tool" or len(text_of(message.get("content"))) <= longest:
        return message
    return {**message, "content": middle_cut(text_of(message.get("content")), longest)}


def _without_images(message: Message) -> Message:
    content = message.get("content")
    if not isinstance(content, list) or all(part.get("type") != "image_url" for part in content):
        return message
    parts = [_PICTURE if part.get("type") == "image_url" else part for part in content]
    return {**message, "content": parts}


def middle_cut(text: str, longest: int) -> str:
    """The beginning and the end of a text."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return text[:half] + _LEFT_OUT.format(count=len(text) - 2 * half) + text[len(text) - half :]


def beginning(
    note: Message, before: Sequence[Message], after: Sequence[Message], *, most_request: int
) -> tuple[Message, ...]:
    """What stands for `before` where `note` sums it up, such that `after` can follow.

    A cut amid the work on a request keeps the request's own words, unless they are very long.
    """
    if not after or after[0]["role"] == "user":
        return (note, _GOES_ON)
    request = next((each for each in reversed(before) if _is_said(each)), None)
    if request is None or message_tokens(request) > most_request:
        return (note,)
    return (note, _GOES_ON, request)


def _is_said(message: Message) -> bool:
    return message["role"] == "user" and not is_note(message)


def is_note(message: Message) -> bool:
    content = message.get("content")
    return message["role"] == "user" and isinstance(content, str) and content.startswith(SUMMARY)


def divided_note(messages: Sequence[Message]) -> tuple[str | None, str, list[Message]]:
    """The summary that a conversation begins with, how it once began, and the rest of it."""
    if messages and is_note(messages[0]):
        said = text_of(messages[0]["content"]).removeprefix(SUMMARY)
        summary, _, opening = said.partition(OPENING)
        rest = messages[2:] if messages[1:2] == [_GOES_ON] else messages[1:]
        return summary, opening, list(rest)
    first = next((text_of(m.get("content")) for m in messages if m["role"] == "user"), "")
    return None, middle_cut(first, _MOST_OPENING), list(messages)


def note_of(summary: str, opening: str) -> Message:
    """What is told in the place of messages; the first words stay for ever."""
    return summary_note(summary + (OPENING + opening if opening else ""))


def without_summary(before: str | None, count: int) -> str:
    """What is told where nobody could write a summary."""
    missing = f"[{count} earlier messages had to be left out; nobody could summarise them.]"
    return f"{before}\n\n{missing}" if before else missing


def parts_of(messages: Sequence[Message], tokens: int, most: int) -> list[list[str]]:
    """The messages as lines for a summary, in at most `most` parts of about `tokens` each.

    The more there is, the less is read of each message; what is still too much is left out from
    the middle.
    """
    longest = tokens * 2
    lines = [line(message, longest) for message in messages]
    while longest > _SHORTEST_LINE and sum(map(text_tokens, lines)) > tokens * most * 3 // 4:
        longest //= 2
        lines = [middle_cut(each, longest) for each in lines]
    parts: list[list[str]] = [[]]
    size = 0
    for each in lines:
        size += text_tokens(each)
        if parts[-1] and size > tokens:
            parts.append([])
            size = text_tokens(each)
        parts[-1].append(each)
    if len(parts) <= most:
        return parts
    missing = sum(map(len, parts[most // 2 : -(most - most // 2)]))
    parts[most // 2 - 1].append(f"[{missing} messages left out]")
    return [*parts[: most // 2], *parts[-(most - most // 2) :]]


def digests(messages: Sequence[Message], scope: str) -> Iterator[str]:
    """One for each beginning of the conversation, the shortest first."""
    running = hashlib.sha256(scope.encode(errors="surrogatepass"))
    for message in messages:
        running.update(json.dumps(message, sort_keys=True).encode())
        yield running.hexdigest()
