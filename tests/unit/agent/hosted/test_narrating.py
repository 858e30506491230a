"""What a CLI does, told as a turn: events in lawful order, messages that another model can read."""

from __future__ import annotations

from hermes.agent.hosted.narrating import Narrator, called_in
from hermes.backends.hosting.job import Kept, News, Waiting
from hermes.backends.saying import (
    MessageEnded,
    Said,
    Thought,
    Told,
    ToolAnswered,
    ToolCalled,
)
from hermes.core.events import (
    Event,
    Notice,
    ReasoningDelta,
    SegmentEnd,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from hermes.core.messages import Message, assistant, tool


class Telling:
    """A narrator with what it emitted and recorded."""

    def __init__(self, *news: News) -> None:
        self.events: list[Event] = []
        self.recorded: list[Message] = []
        self.narrator = Narrator(
            "claude/haiku", self.events.append, lambda message, _: self.recorded.append(message)
        )
        for each in news:
            self.narrator.tell(each)


def call(call_id: str, name: str, **arguments: str) -> dict[str, object]:
    written = "{" + ", ".join(f'"{key}": "{value}"' for key, value in arguments.items()) + "}"
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": written}}


def test_a_plain_answer_is_said_and_kept_once() -> None:
    told = Telling(Said("Hel"), Said("lo"), MessageEnded("Hello"))
    text = told.narrator.finish("Hello", "")

    assert text == "Hello"
    assert told.events == [TextDelta("Hel"), TextDelta("lo")]
    assert told.recorded == told.narrator.messages == [assistant("Hello")]


def test_what_nobody_heard_is_said_at_the_end() -> None:
    told = Telling(Said("Hel"))
    told.narrator.finish("Hello", "lo")

    assert told.events == [TextDelta("Hel"), TextDelta("lo")]
    assert told.recorded == [assistant("Hello")]


def test_a_tool_of_the_cli_is_a_tool_the_server_ran() -> None:
    told = Telling(
        Thought("hm"),
        Said("Let me look."),
        MessageEnded("Let me look."),
        ToolCalled("c1", "Bash", {"command": "ls"}),
        ToolAnswered("c1", "Bash", "a.txt"),
        Said("There is a.txt."),
        MessageEnded("There is a.txt."),
    )
    told.narrator.finish("There is a.txt.", "")

    assert told.events == [
        ReasoningDelta("hm"),
        TextDelta("Let me look."),
        SegmentEnd(),
        ToolStarted("c1", "Bash", {"command": "ls"}),
        ToolFinished("c1", "Bash", {"command": "ls"}, "a.txt"),
        TextDelta("There is a.txt."),
    ]
    assert told.recorded == [
        assistant("Let me look.", [call("c1", "Bash", command="ls")]),
        tool("c1", "Bash", "a.txt"),
        assistant("There is a.txt."),
    ]


def test_a_call_that_comes_before_its_message_is_over_has_its_words() -> None:
    told = Telling(Said("Now."), ToolCalled("c1", "Read", {}), MessageEnded(""))

    assert told.recorded == [assistant("Now.", [call("c1", "Read")])]


def test_two_messages_in_a_row_are_two_segments() -> None:
    told = Telling(Said("One."), MessageEnded("One."), Said("Two."), MessageEnded("Two."))
    told.narrator.finish("Two.", "")

    assert told.events == [TextDelta("One."), SegmentEnd(), TextDelta("Two.")]
    assert told.recorded == [assistant("One."), assistant("Two.")]


def test_the_message_as_a_whole_is_what_is_kept() -> None:
    told = Telling(Said("ec"), Said("ec"), MessageEnded("echo"), ToolCalled("c1", "Read", {}))

    assert told.recorded == [assistant("echo", [call("c1", "Read")])]


def test_an_answer_to_a_call_nobody_saw_is_left_out() -> None:
    told = Telling(ToolAnswered("c9", "Bash", "x"))

    assert told.events == [] and told.recorded == []


def test_the_reader_is_told_about_the_queue_retries_and_the_workspace() -> None:
    told = Telling(
        Waiting(2), Told("cli_retry", "again"), Told("unknown_line", "?"), Kept("kept on agent/x")
    )

    assert told.events == [
        Notice("cli_queued", "Waiting for a free place to run 'claude/haiku': number 2 in line."),
        Notice("cli_retry", "again"),
        Notice("cli_workspace", "kept on agent/x"),
    ]


def test_a_call_that_may_be_asked_about_is_shown_when_it_is_made() -> None:
    events: list[Event] = []
    narrator = Narrator("claude", events.append, lambda message, used: None, can_be_asked=True)
    narrator.tell(ToolCalled("c1", "Bash", {}))
    narrator.tell(ToolCalled("c2", "Read", {}))
    assert narrator.is_holding and events == []

    narrator.tell(ToolAnswered("c2", "Read", "text"))
    narrator.release("c1")
    narrator.release()
    assert events == [
        ToolStarted("c2", "Read", {}),
        ToolFinished("c2", "Read", {}, "text"),
        ToolStarted("c1", "Bash", {}),
    ]
    assert not narrator.is_holding


def test_calls_that_nobody_asks_about_are_shown_after_a_while() -> None:
    events: list[Event] = []
    narrator = Narrator("claude", events.append, lambda message, used: None, can_be_asked=True)
    narrator.tell(ToolCalled("c1", "Bash", {}))
    narrator.release()

    assert events == [ToolStarted("c1", "Bash", {})]


def test_a_call_of_an_earlier_leg_is_shown_once_it_is_approved() -> None:
    told = Telling()
    (earlier,) = called_in([call("c1", "Bash", command="rm x")])  # type: ignore[list-item]
    told.narrator.hold(earlier)
    told.narrator.release("unknown")
    assert told.events == []

    told.narrator.release("c1")
    told.narrator.tell(ToolAnswered("c1", "Bash", "done"))
    assert told.events == [
        ToolStarted("c1", "Bash", {"command": "rm x"}),
        ToolFinished("c1", "Bash", {"command": "rm x"}, "done"),
    ]
    assert told.recorded == [tool("c1", "Bash", "done")]


def test_arguments_that_are_no_json_object_are_none() -> None:
    parts = [
        {"id": "1", "function": {"name": "a", "arguments": "[1]"}},
        {"id": "2", "function": {"name": "b", "arguments": "{"}},
        {"id": "3", "function": {"name": "c"}},
    ]
    assert [each.arguments for each in called_in(parts)] == [{}, {}, {}]
