"""Whose background processes a tool may see."""

from __future__ import annotations

from hermes.core.ids import is_derived_chat_session_id
from hermes.tools.background import Room
from hermes.tools.base import ToolContext


def room_of(context: ToolContext) -> Room:
    """The session; where there is none, the run or the task."""
    scope = context.scope
    conversation = scope.session_id or scope.run_id or context.task_id or ""
    return Room(
        holder=scope.holder,
        conversation=conversation,
        is_shared=is_derived_chat_session_id(conversation),
    )
