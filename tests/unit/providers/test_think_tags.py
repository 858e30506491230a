"""Thoughts between tags are taken out of an answer, wherever the stream was cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.providers.reply import ReplyBuilder

answers = st.text(alphabet="ab </>thinkg\n", max_size=40)


def heard(pieces: list[str], *, has_think_tags: bool = True) -> tuple[str, str]:
    """What the reader was told, as thought and as text; the reply says the same."""
    thoughts: list[str] = []
    texts: list[str] = []
    builder = ReplyBuilder(
        on_text=texts.append, on_reasoning=thoughts.append, has_think_tags=has_think_tags
    )
    for piece in pieces:
        builder.add_text(piece)
    builder.finish("stop")
    reply = builder.build()
    assert (reply.reasoning or "", reply.text or "") == ("".join(thoughts), "".join(texts))
    return "".join(thoughts), "".join(texts)


@pytest.mark.parametrize(
    ("said", "thought", "text"),
    [
        ("Hello.", "", "Hello."),
        ("<think>Hm.</think>Hello.", "Hm.", "Hello."),
        ("\n<think>\nHm.\n</think>\n\nHello.\n", "\nHm.\n", "Hello.\n"),
        ("<thinking>Hm.</thinking> Hello.", "Hm.", "Hello."),
        ("<think></think>Hello.", "", "Hello."),
        ("<think>1 < 2 </thin </think>Yes.", "1 < 2 </thin ", "Yes."),
        ("Use <think>this</think> tag.", "", "Use <think>this</think> tag."),
        ("<think>a</think>b<think>c</think>", "a", "b<think>c</think>"),
        ("<think", "", "<think"),
        ("  <", "", "  <"),
        ("<thinker>", "", "<thinker>"),
        ("<think>never ends </th", "never ends ", ""),
        ("  ", "", "  "),
        ("<think>Hm.</think>  ", "Hm.", ""),
    ],
)
def test_the_same_is_heard_however_the_answer_was_cut(said: str, thought: str, text: str) -> None:
    assert heard([said]) == (thought, text)
    assert heard(list(said)) == (thought, text)
    for at in range(len(said)):
        assert heard([said[:at], said[at:]]) == (thought, text)


@given(answers, st.lists(st.integers(0, 40), max_size=6))
def test_no_cut_changes_anything_and_nothing_is_lost(said: str, places: list[int]) -> None:
    cuts = [0, *sorted(min(place, len(said)) for place in places), len(said)]
    pieces = [said[begin:end] for begin, end in itertools.pairwise(cuts)]
    assert heard(pieces) == heard([said])
    if "<think>" not in said and "<thinking>" not in said:
        assert heard(pieces) == ("", said)


@given(answers)
def test_other_dialects_keep_their_text_as_it_is(said: str) -> None:
    assert heard([said], has_think_tags=False) == ("", said)
