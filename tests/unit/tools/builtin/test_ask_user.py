"""`ask_user` puts a question, and refuses where nobody can answer it."""

from __future__ import annotations

import json
from dataclasses import replace

from hermes.tools.base import ToolContext
from hermes.tools.builtin.ask_user import ASKED
from hermes.tools.registry import Registry


def ask(context: ToolContext, arguments: str) -> tuple[str, list[str]]:
    asked: list[str] = []
    told = Registry.builtin().run("ask_user", arguments, replace(context, ask=asked.append))
    return told, asked


def test_the_question_is_put_with_its_choices_numbered(context: ToolContext) -> None:
    told, asked = ask(context, '{"question": " Which one? ", "choices": ["red", " blue "]}')
    assert (told, asked) == (ASKED, ["Which one?\n\n1. red\n2. blue"])


def test_a_question_without_choices_is_just_the_question(context: ToolContext) -> None:
    assert ask(context, '{"question": "Why?"}') == (ASKED, ["Why?"])


def test_an_empty_question_and_too_many_choices_are_refused(context: ToolContext) -> None:
    assert ask(context, '{"question": "  "}') == (
        "The question is empty; say what you want to know.",
        [],
    )
    told, asked = ask(context, json.dumps({"question": "Which?", "choices": ["a"] * 11}))
    assert told == "At most 10 choices can be offered."
    assert asked == []


def test_where_nobody_can_be_asked_the_model_is_told_to_decide(context: ToolContext) -> None:
    told = Registry.builtin().run("ask_user", '{"question": "Why?"}', context)
    assert told.startswith("Nobody can be asked here")
