"""The `ask_user` tool: a question that ends the turn; the user's next message is the answer."""

from __future__ import annotations

from typing import Annotated

from hermes.tools.base import ToolContext, ToolProblem, tool

ASKED = "The question is shown to the user; their next message is the answer."
_MOST_CHOICES = 10


@tool(toolset="questions", preview=lambda arguments: str(arguments.get("question", "")))
def ask_user(
    context: ToolContext,
    question: Annotated[str, "One clear question, with what the user must know to answer it."],
    choices: Annotated[list[str], "Answers to choose from, where there are some."] = [],  # noqa: B006
) -> str:
    """Ask the user something that only they can decide, and wait for the answer.

    This ends your turn: call it alone, and last. Do not ask what you can find out yourself.
    """
    if context.ask is None:
        raise ToolProblem("Nobody can be asked here; decide yourself and say what you assumed.")
    if not question.strip():
        raise ToolProblem("The question is empty; say what you want to know.")
    if len(choices) > _MOST_CHOICES:
        raise ToolProblem(f"At most {_MOST_CHOICES} choices can be offered.")
    listed = [f"{number}. {choice.strip()}" for number, choice in enumerate(choices, start=1)]
    context.ask("\n".join([question.strip(), *([""] if listed else []), *listed]))
    return ASKED
