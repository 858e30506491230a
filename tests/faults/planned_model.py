"""A model that does what the user's message says: so many words, so slowly, after these tools.

A plan is a text such as `words=20 pause=0.01 tools=abc,def`: calls of `terminal` one by one,
each of which adds its token to a file, so that every execution can be counted afterwards.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hermes.core.messages import UNKNOWN_OUTCOME
from hermes.testing.replies import Reply, Text, ToolUse
from hermes.testing.requests import ModelRequest

TOKENS = "tokens.txt"


def plan(*, words: int = 10, pause: float = 0.01, tools: tuple[str, ...] = ()) -> str:
    return f"words={words} pause={pause} tools={','.join(tools)}"


def command(token: str) -> str:
    """A token that begins with `slow` is for a command that goes on for a while."""
    return f"echo {token} >> {TOKENS}" + ("; sleep 5" if token.startswith("slow") else "")


class PlannedModel:
    """`unknown` holds the tokens of calls that the model was told to have an unknown outcome."""

    def __init__(self) -> None:
        self.unknown: set[str] = set()

    def reply(self, request: ModelRequest) -> Reply:
        asked = dict(pair.split("=", 1) for pair in request.last_user_text.split())
        tokens = [token for token in asked["tools"].split(",") if token]
        results = _results_of_the_turn(request)
        self.unknown |= {
            token
            for token, result in zip(tokens, results, strict=False)
            if UNKNOWN_OUTCOME in result
        }
        pause = float(asked["pause"])
        if len(results) < len(tokens):
            call = ToolUse("terminal", {"command": command(tokens[len(results)])})
            return [Text(pieces=["I ", "look."], interval=pause), call]
        return Text(pieces=[f"word{n} " for n in range(int(asked["words"]))], interval=pause)


def _results_of_the_turn(request: ModelRequest) -> list[str]:
    """What tools have answered since the user spoke last."""
    roles = [message.get("role") for message in request.messages]
    since = len(roles) - roles[::-1].index("user")
    return [str(m["content"]) for m in request.messages[since:] if m.get("role") == "tool"]


def executions(home: Path) -> Counter[str]:
    """How often each tool was run, by its token."""
    file = home / "workspace" / TOKENS
    return Counter(file.read_text().split() if file.exists() else ())
