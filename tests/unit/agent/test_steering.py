"""What people say to an agent at work reaches the model, and is never lost silently."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hermes.core.events import SegmentEnd, Steered
from hermes.core.messages import assistant, user
from hermes.core.run_link import Steer
from hermes.core.turn import AnswerFormat, Outcome, TurnParameters
from hermes.providers.reply import Reply
from tests.unit.agent.stage import Link, Stage, calls, reply

Play = Callable[..., Stage]


def said(link: Link, text: str, answer: Reply) -> Callable[[], Reply]:
    """Somebody says something while the model writes this answer."""

    def line() -> Reply:
        link.said.append(Steer(f"st_{text}", text))
        return answer

    return line


def test_what_is_said_while_tools_run_is_heard_before_the_next_model_call(stage: Play) -> None:
    link = Link()
    turn = stage(said(link, "Faster!", reply(None, calls("echo"))), reply("Yes."), link=link)
    result = turn.play()
    assert turn.asked[1]["messages"][-1] == user("Faster!")
    assert Steered("st_Faster!", "Faster!") in turn.events
    assert user("Faster!") in turn.recorded
    assert (result.text, link.is_closed) == ("Yes.", True)


def test_what_is_said_during_the_answer_is_answered_in_the_same_turn(stage: Play) -> None:
    link = Link()
    turn = stage(said(link, "And now?", reply("One.")), reply("Two."), link=link)
    result = turn.play("Hi.")
    assert result.messages == [user("Hi."), assistant("One."), user("And now?"), assistant("Two.")]
    assert (result.text, result.outcome) == ("Two.", Outcome.COMPLETED)
    assert turn.events == [SegmentEnd(), Steered("st_And now?", "And now?")]
    assert turn.recorded == result.messages


def test_several_things_are_heard_in_their_order(stage: Play) -> None:
    link = Link()
    link.said = [Steer("1", "a"), Steer("2", "b")]
    turn = stage(reply("One."), reply("Two."), link=link)
    assert [message["content"] for message in turn.play("Hi.").messages] == [
        "Hi.",
        "One.",
        "a",
        "b",
        "Two.",
    ]


def test_an_answer_in_a_format_can_be_steered_too(stage: Play) -> None:
    link = Link()
    wanted = TurnParameters(answer_format=AnswerFormat())
    turn = stage(said(link, "Again.", reply("{}")), reply('{"a": 1}'), link=link, parameters=wanted)
    assert turn.play().text == '{"a": 1}'


def test_a_turn_that_fails_leaves_what_was_said_to_the_run(stage: Play) -> None:
    link = Link()
    broken = replace(reply("Half"), error="lost")
    turn = stage(said(link, "Hello?", broken), link=link)
    assert turn.play().outcome is Outcome.FAILED
    assert (link.is_closed, [steer.text for steer in link.said]) == (False, ["Hello?"])
