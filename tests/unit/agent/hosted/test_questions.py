"""What a CLI is asked: the new message, the conversation it does not know, the images."""

from __future__ import annotations

import base64

from hermes.agent.hosted.questions import question_of
from hermes.backends.jobs import Image, Question
from hermes.core.messages import assistant, tool, user
from hermes.core.turn import AnswerFormat

PIXEL = b"\x89PNG\r\n\x1a\n" + b"rest"


def image_part(data: bytes, kind: str = "image/png") -> dict[str, object]:
    url = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def test_a_message_alone_is_asked_as_it_is() -> None:
    assert question_of(["/cost --version"], []) == Question(text="/cost --version")


def test_what_the_cli_does_not_know_comes_first() -> None:
    history = [
        user("What is there?"),
        assistant(
            "Let me look.",
            [{"id": "1", "function": {"name": "list_files", "arguments": '{"path": "."}'}}],
        ),
        tool("1", "list_files", "a.txt"),
        assistant("a.txt"),
        assistant(None),
    ]
    asked = question_of(["And in it?"], history).text

    assert asked == (
        "What was said in this conversation so far:\n\n"
        "User:\nWhat is there?\n\n"
        'Assistant:\nLet me look.\n[called list_files({"path": "."})]\n\n'
        "Tool result:\na.txt\n\n"
        "Assistant:\na.txt\n\n"
        "The user's new message:\n\n"
        "And in it?"
    )


def test_images_are_passed_on_by_what_they_are() -> None:
    parts = [{"type": "text", "text": "Look"}, image_part(PIXEL, "image/jpeg")]

    assert question_of([parts], []) == Question(
        text="Look", images=(Image(media_type="image/png", data=PIXEL),)
    )


def test_what_is_no_image_is_left_out() -> None:
    parts = [
        image_part(b"GIF as if"),
        {"type": "image_url", "image_url": {"url": "https://elsewhere.example/a.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,%%%"}},
    ]
    assert question_of([parts], []).images == ()


def test_images_that_were_shown_before_are_named() -> None:
    asked = question_of(["And now?"], [user([image_part(PIXEL)])])

    assert "User:\n[an image]" in asked.text
    assert asked.images == ()


def test_a_turn_without_new_words_goes_on() -> None:
    assert question_of([], []).text == "Go on."


def test_the_wanted_format_is_said_where_the_cli_has_no_place_for_it() -> None:
    plain = question_of(["Name?"], [], AnswerFormat()).text
    strict = question_of(["Name?"], [], AnswerFormat(schema={"type": "object"})).text

    assert plain.startswith("Name?") and "nothing but JSON" in plain
    assert '{"type": "object"}' in strict
