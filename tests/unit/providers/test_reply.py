"""The accumulator gathers fragments in any order and never invents anything."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hermes.providers.reply import ReplyBuilder, ToolCall
from tests.unit.providers.loopback import quiet_builder


def test_text_and_reasoning_are_passed_on_piece_by_piece() -> None:
    text: list[str] = []
    reasoning: list[str] = []
    into = ReplyBuilder(on_text=text.append, on_reasoning=reasoning.append)
    for piece in ("Hel", "", "lo"):
        into.add_text(piece)
        into.add_reasoning(piece.upper())
    assert text == ["Hel", "lo"]
    assert reasoning == ["HEL", "LO"]
    assert (into.build().text, into.build().reasoning) == ("Hello", "HELLO")


def test_nothing_said_is_none_and_not_an_empty_text() -> None:
    reply = quiet_builder().build()
    assert (reply.text, reply.reasoning, reply.tool_calls) == (None, None, ())
    assert (reply.finish_reason, reply.usage, reply.replay) == (None, None, None)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.text(max_size=4)),
        max_size=30,
    )
)
def test_arguments_are_concatenated_by_index(fragments: list[tuple[int, str]]) -> None:
    into = quiet_builder()
    for index in range(4):
        into.add_tool_call(index, id=f"call_{index}", name=f"tool_{index}")
    for index, piece in fragments:
        into.add_tool_call(index, arguments=piece)
    for index, call in enumerate(into.build().tool_calls):
        joined = "".join(piece for at, piece in fragments if at == index)
        assert call == ToolCall(id=f"call_{index}", name=f"tool_{index}", arguments=joined or "{}")


def test_parallel_calls_that_share_index_zero_are_told_apart_by_id() -> None:
    into = quiet_builder()
    into.add_tool_call(0, id="a", name="first", arguments="{}")
    into.add_tool_call(0, id="b", name="second", arguments='{"x":')
    into.add_tool_call(0, arguments="1}")
    assert [(c.id, c.arguments) for c in into.build().tool_calls] == [("a", "{}"), ("b", '{"x":1}')]


def test_calls_without_an_index_are_told_apart_by_id() -> None:
    into = quiet_builder()
    into.add_tool_call(None, id="a", name="first")
    into.add_tool_call(None, id="b", name="second")
    into.add_tool_call(None, id="a", arguments="[1]")
    into.add_tool_call(None, arguments="[2]")
    assert [c.arguments for c in into.build().tool_calls] == ["[1]", "[2]"]


def test_a_repeated_name_stays_one_name() -> None:
    into = quiet_builder()
    into.add_tool_call(0, id="a", name="read_file")
    into.add_tool_call(0, name="read_file", arguments="{}")
    assert into.tool_names == ["read_file"]


def test_a_call_without_an_id_gets_one_that_stays() -> None:
    into = quiet_builder()
    into.add_tool_call(0, name="read_file")
    first, second = into.build().tool_calls[0], into.build().tool_calls[0]
    assert first.id.startswith("call_")
    assert first == second


def test_a_stop_with_tool_calls_means_tool_calls() -> None:
    into = quiet_builder()
    into.add_tool_call(0, id="a", name="read_file")
    into.finish("stop")
    assert into.build().finish_reason == "tool_calls"


def test_a_limit_stays_a_limit_even_with_tool_calls() -> None:
    into = quiet_builder()
    into.add_tool_call(0, id="a", name="read_file")
    into.finish("length")
    assert into.build().finish_reason == "length"


def test_kept_items_come_back_in_their_order_with_their_pieces_joined() -> None:
    into = quiet_builder()
    into.keep("m", 2, {"type": "b"})
    into.keep("m", 1, {"type": "a", "text": "x"})
    into.keep_more(1, "text", "y")
    into.keep_more(9, "text", "lost")
    expected = {"api_mode": "m", "items": [{"type": "a", "text": "xy"}, {"type": "b"}]}
    assert into.build().replay == expected
    assert into.build().replay == expected


def test_a_failure_is_part_of_the_reply() -> None:
    into = quiet_builder()
    into.add_text("half")
    into.fail("It broke off.")
    assert (into.build().text, into.build().error) == ("half", "It broke off.")
    assert not into.is_finished
