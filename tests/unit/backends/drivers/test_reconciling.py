"""Everything of a message is said once, however often and in whichever way it is told."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.backends.drivers.reconciling import Reconciliation, rest

TEXTS = st.text(alphabet="ab \n", max_size=12)


def test_pieces_are_said_as_they_come_and_the_whole_adds_nothing() -> None:
    message = Reconciliation()
    said = [message.hear("Hel"), message.hear("lo."), message.hear_whole("Hello.")]
    assert (said, message.text) == (["Hel", "lo.", ""], "Hello.")


def test_what_was_never_told_in_pieces_is_said_in_whole() -> None:
    message = Reconciliation()
    assert message.hear_whole("Hello.") == "Hello."


def test_the_whole_completes_what_the_pieces_began() -> None:
    message = Reconciliation()
    message.hear("Hel")
    assert message.hear_whole("Hello.") == "lo."


def test_each_part_of_a_message_is_compared_with_its_own_pieces() -> None:
    message = Reconciliation()
    said = [message.hear("One. "), message.hear_whole("One. ")]
    said += [message.hear("Tw"), message.hear_whole("Two.")]
    assert (said, message.text) == (["One. ", "", "Tw", "o."], "One. Two.")


def test_a_message_that_is_told_again_is_not_said_again() -> None:
    message = Reconciliation()
    message.hear("echo one")
    message.begin_again()
    said = [message.hear("echo"), message.hear(" one two"), message.hear(" three")]
    assert (said, message.text) == (["", " two", " three"], "echo one two three")


def test_parts_that_are_told_again_in_whole_are_not_said_again() -> None:
    message = Reconciliation()
    message.hear_whole("One. ")
    message.hear("Tw")
    message.begin_again()
    said = [message.hear_whole("One. "), message.hear_whole("Two.")]
    assert (said, message.text) == (["", "o."], "One. Two.")


def test_other_words_at_the_second_attempt_stand_apart() -> None:
    message = Reconciliation()
    message.hear("The cat")
    message.begin_again()
    said = [message.hear("The "), message.hear("dog"), message.hear_whole("The dog ran.")]
    assert (said, message.text) == (["", "\n\nThe dog", " ran."], "The dog ran.")


def test_other_words_told_in_whole_stand_apart() -> None:
    message = Reconciliation()
    message.hear("The cat")
    message.begin_again()
    assert message.hear_whole("A dog.") == "\n\nA dog."
    assert message.text == "A dog."


def test_what_goes_on_is_joined_without_a_seam() -> None:
    message = Reconciliation()
    message.hear("echo one")
    message.hear_whole("echo one")
    message.go_on()
    said = [message.hear(" two"), message.hear_whole(" two three")]
    assert (said, message.text) == ([" two", " three"], "echo one two three")


def test_what_goes_on_may_repeat_the_beginning_first() -> None:
    message = Reconciliation()
    message.hear_whole("echo one")
    message.go_on()
    said = [message.hear("echo"), message.hear(" one"), message.hear(" two")]
    assert (said, message.text) == (["", "", " two"], "echo one two")


def test_what_goes_on_with_the_same_first_letters_loses_none() -> None:
    message = Reconciliation()
    message.hear_whole("to be")
    message.go_on()
    said = [message.hear("to"), message.hear("day"), message.hear_whole("today.")]
    assert (said, message.text) == (["", "today", "."], "to betoday.")


def test_what_goes_on_may_be_told_in_whole() -> None:
    message = Reconciliation()
    message.hear_whole("echo one")
    message.go_on()
    assert message.hear_whole(" two") == " two"
    assert message.text == "echo one two"


def test_what_goes_on_in_parts_of_which_the_first_repeats_is_joined() -> None:
    message = Reconciliation()
    message.hear_whole("one two")
    message.go_on()
    said = [message.hear_whole("one"), message.hear(" th"), message.hear_whole(" three")]
    assert (said, message.text) == (["", "one th", "ree"], "one twoone three")


def test_a_repetition_that_breaks_off_earlier_takes_nothing_back() -> None:
    message = Reconciliation()
    message.hear("echo one")
    message.begin_again()
    assert message.hear_whole("echo") == ""
    assert message.text == "echo one"


@pytest.mark.parametrize(
    ("said", "whole", "left"),
    [
        ("", "all", "all"),
        ("al", "all", "l"),
        ("all", "all", ""),
        ("\n\nal", "all ", "l"),
        ("all of it ", "all", ""),
        ("cat", "dog", "\n\ndog"),
    ],
)
def test_the_rest_is_what_the_reader_lacks(said: str, whole: str, left: str) -> None:
    assert rest(said, whole) == left


@given(TEXTS, st.lists(st.integers(0, 12)), st.integers(0, 12))
def test_a_repeated_message_is_said_exactly_once(text: str, cuts: list[int], broke: int) -> None:
    message = Reconciliation()
    said = message.hear(text[:broke])
    message.begin_again()
    edges = [0, *sorted(cut for cut in cuts if cut <= len(text)), len(text)]
    for begin, end in pairwise(edges):
        said += message.hear(text[begin:end])
    said += message.hear_whole(text)
    assert (said, message.text) == (text, text)


@given(TEXTS, TEXTS)
def test_the_message_is_what_was_told_in_whole(first: str, second: str) -> None:
    message = Reconciliation()
    said = message.hear(first)
    said += message.hear_whole(first + second)
    assert (said, message.text) == (first + second, first + second)
