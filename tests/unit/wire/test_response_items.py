"""What items are made of."""

from __future__ import annotations

from hermes.wire.response_items import arguments_text, line_about


def test_arguments_are_compact_json():
    assert arguments_text({"path": "/ä", "n": [1, 2]}) == '{"path":"/ä","n":[1,2]}'
    assert arguments_text({"when": object}) == '{"when":"<class \'object\'>"}'


def test_a_line_names_the_tool_once():
    assert line_about("terminal", {"command": "ls"}, lambda _, found: found["command"]) == (
        "terminal: ls"
    )
    assert line_about("odd", {}, lambda name, _: name) == "odd"
