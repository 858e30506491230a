"""What a turn that goes on must know of its beginning is read from its messages."""

from __future__ import annotations

from hermes.agent.resuming import answered_calls_in, open_calls, replies_in
from hermes.core.messages import assistant, tool, user
from hermes.providers.reply import ToolCall
from tests.unit.agent.stage import calls

ONE = calls("echo", '{"word": "a"}', "c1")
TWO = ToolCall(id="c2", name="echo", arguments="{}", extra_content={"signature": "x"})
ASKED = assistant(None, [ONE.as_message_part(), TWO.as_message_part()])


def test_open_calls_come_back_as_they_were() -> None:
    assert open_calls([user("Go."), ASKED]) == [ONE, TWO]


def test_calls_with_an_answer_are_not_open() -> None:
    assert open_calls([user("Go."), ASKED, tool("c1", "echo", "a")]) == [TWO]
    assert open_calls([ASKED, tool("c1", "echo", "a"), tool("c2", "echo", "b")]) == []


def test_only_the_last_reply_can_have_open_calls() -> None:
    assert open_calls([ASKED, assistant("Well.")]) == []
    assert open_calls([user("Go.")]) == []


def test_what_the_model_did_is_counted_and_what_the_client_brought_is_not() -> None:
    messages = [tool("theirs", "f", "x"), user("Go."), ASKED, tool("c1", "echo", "a")]
    assert (replies_in(messages), answered_calls_in(messages)) == (1, 1)
