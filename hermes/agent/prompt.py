"""The system prompt: who the agent is, where it works, and what the caller adds to that."""

from __future__ import annotations

from pathlib import Path

IDENTITY = (
    "You are Hermes, an agent that runs on a server and works through tools. "
    "Use them to find out and to act rather than to guess; say plainly what you did and what "
    "came of it. When something fails, say so and what would help."
)


def system_prompt(
    *,
    identity: str | None,
    workspace: Path | None,
    added_by_caller: str | None,
    is_plain: bool = False,
) -> str:
    """Stable parts first, so that providers can cache the prefix across requests.

    The plain model is told what the caller says, and nothing of tools it does not have.
    """
    if is_plain:
        return added_by_caller or ""
    parts = [identity or IDENTITY]
    if workspace is not None:
        parts.append(f"Your workspace is the folder {workspace}; relative paths start there.")
    if added_by_caller:
        parts.append(added_by_caller)
    return "\n\n".join(parts)
