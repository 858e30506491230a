"""What Open WebUI sends beside a chat: side requests to recognise, and histories to compare."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hermes.core.messages import Content, Message, text_of

TASK_HEADER = "X-OpenWebUI-Task"

_TASKS = frozenset(
    {
        "title_generation",
        "tags_generation",
        "follow_up_generation",
        "emoji_generation",
        "query_generation",
        "image_prompt_generation",
        "autocomplete_generation",
    }
)
_TASK = "### Task:\n"
_BEGINNINGS = (
    f"{_TASK}Generate a concise, 3-5 word title",
    f"{_TASK}Generate 1-3 broad tags",
    f"{_TASK}Suggest 3-5 relevant follow-up",
    f"{_TASK}Analyze the chat history to determine",
    f"{_TASK}Generate a detailed prompt for am image",
    f"{_TASK}Generate a detailed prompt for an image",
    f"{_TASK}You are an autocompletion system.",
    "Your task is to reflect the speaker's likely facial expression",
)
"""How the prompts of its side requests begin, as Open WebUI ships them."""

# Blocks for thinking and tools that it keeps inside an answer's text.
_BLOCK = re.compile(
    r"<details type=(?:(?!<details).)*?</details>|<think>(?:(?!<think>).)*?</think>", re.DOTALL
)


def is_side_request(
    task: str, metadata: Mapping[str, str], user_message: Content | None, *, stream: bool
) -> bool:
    """Whether this asks for a title, tags or the like, and not for an answer in the chat.

    `task` is the header's value: empty in a chat, and a placeholder where nobody filled it in.
    """
    if (task and not task.startswith("{{")) or metadata.get("task") in _TASKS:
        return True
    if stream or not isinstance(user_message, str):
        return False
    return user_message.startswith(_BEGINNINGS)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a user said and all that was answered, with the messages it was made of."""

    asked: str
    answers: tuple[str, ...]
    end: int
    """How many messages of the conversation there are up to here."""

    def is_same_as(self, sent: Exchange) -> bool:
        """Whether a client that was shown this exchange would send it back as `sent`."""
        shown = sent.answers
        whole, last = "".join(self.answers), self.answers[-1:]
        return self.asked == sent.asked and ("".join(shown) == whole or shown == last)


def exchanges(messages: Sequence[Message]) -> list[Exchange]:
    """A conversation by the user's messages; tools and white space do not count."""
    found: list[Exchange] = []
    asked, answers = "", list[str]()
    for at, message in enumerate(messages):
        if message["role"] == "user":
            if at:
                found.append(Exchange(asked, tuple(answers), at))
            asked, answers = _squeezed(text_of(message["content"])), []
        elif message["role"] == "assistant":
            said = _squeezed(_BLOCK.sub("", text_of(message["content"])))
            answers += [said] if said else []
    if messages:
        found.append(Exchange(asked, tuple(answers), len(messages)))
    return found


def shared_length(stored: Sequence[Message], sent: Sequence[Message]) -> tuple[int, int]:
    """How many messages of each side tell the same beginning."""
    ends = (0, 0)
    for ours, theirs in zip(exchanges(stored), exchanges(sent), strict=False):
        if not ours.is_same_as(theirs):
            break
        ends = (ours.end, theirs.end)
    return ends


def _squeezed(text: str) -> str:
    return "".join(text.split())
