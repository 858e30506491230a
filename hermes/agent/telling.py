"""The last touch to a prompt before it is worded for a provider; nothing of it is kept."""

from __future__ import annotations

from dataclasses import replace

from hermes.agent.prompt import with_plan
from hermes.agent.seams import AgentSeams
from hermes.core.data_marks import with_marks
from hermes.providers.base import Prompt


def as_told(seams: AgentSeams, prompt: Prompt) -> Prompt:
    """With the plan, where what was said does not show it, and with marks around data.

    A plain model is told nothing of marks, and its tools are the client's own.
    """
    if seams.parameters.is_plain:
        return prompt
    system = with_plan(prompt.system, seams.todos(), prompt.messages)
    messages = with_marks(prompt.messages)
    if system is prompt.system and messages is prompt.messages:
        return prompt  # as in most chats
    return replace(prompt, system=system, messages=messages)
