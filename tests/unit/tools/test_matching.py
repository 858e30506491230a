"""What a model means is found where it is the only one; nothing else in the file changes."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hermes.tools.edits import Lines, replaced
from hermes.tools.lookalikes import plain
from hermes.tools.matching import MOST_PLACES, Match, find_exact, find_meant

FILE = (
    b"class A:\n"
    b"    def one(self):  \n"
    b"        return '\xe2\x80\x99'\n"
    b"\n"
    b"    def two(self):\n"
    b'        print("a\\n")\n'
    b"        return 2\n"
)


def patched(content: bytes, old: str, new: str) -> tuple[bytes, str]:
    match = find_meant(content, old, new)
    assert len(match.replacements) == 1, match
    return replaced(content, match.replacements), match.forgiven


@pytest.mark.parametrize(
    ("old", "new", "there", "put", "forgiven"),
    [
        # What is exact is not touched by anything below.
        ("return 2", "return 3", b"return 2", b"return 3", ""),
        ("self):\r\n        print", "x):\r\n        print", b"two(self)", b"two(x)", "line ends"),
        (
            "    def one(self):\n        return",
            "    def eins(self):\n        return",
            b"    def one(self):  \n        return",
            b"    def eins(self):\n        return",
            None,
        ),
        (
            "return '''",
            "return ''' # quote",
            b"return '\xe2\x80\x99'",
            b"return '\xe2\x80\x99' # quote",
            "typographic quotes, dashes or spaces",
        ),
        (
            "\n\n    def two(self):\n\n",
            "\n\n    def zwei(self):\n\n",
            b"two(self)",
            b"zwei(self)",
            "blank lines around it",
        ),
        (
            "    def one(self):\n        return '''\n",
            "    def eins(self):\n        return '''\n",
            b"one(self):  ",
            b"eins(self):",
            "spaces at the end of lines, typographic quotes, dashes or spaces",
        ),
        (
            "def two(self):\n    print",
            "def zwei(self):\n    print",
            b"",
            b"",
            None,
        ),
        (
            'def two(self):\n    print("a\\n")\n    return 2\n',
            'def two(self):\n    if self:\n        print("b\\n")\n    return 2\n',
            b'        print("a\\n")\n',
            b'        if self:\n            print("b\\n")\n',
            "indentation",
        ),
        (
            '\t\tdef two(self):\n\t\t    print("a\\n")',
            '\t\tdef two(self):\n\t\t    print("b\\n")',
            b'print("a',
            b'print("b',
            "indentation",
        ),
        (
            "def one(self):\n    return '''",
            "def one(self):\n    return ''",
            b"return '\xe2\x80\x99'",
            b"return ''",
            "indentation, typographic quotes, dashes or spaces",
        ),
        (
            'print(\\"a\\\\n\\")\\n        return 2',
            'print(\\"b\\\\n\\")\\n        return 3',
            b'print("a\\n")\n        return 2',
            b'print("b\\n")\n        return 3',
            "escape sequences",
        ),
    ],
)
def test_differences_without_meaning_are_forgiven(
    old: str, new: str, there: bytes, put: bytes, forgiven: str | None
) -> None:
    if forgiven is None:
        assert find_meant(FILE, old, new).replacements == ()
    else:
        assert patched(FILE, old, new) == (FILE.replace(there, put), forgiven)


@pytest.mark.parametrize(
    "old",
    [
        "    def one(self)::\n",
        "return 22",
        '  def two(self):\n  print("a\\n")\n',  # indented by different amounts
        "DEF TWO",
        "   \n\n",
    ],
)
def test_nothing_is_guessed(old: str) -> None:
    assert find_meant(FILE, old, "x").replacements == ()


def test_new_text_that_cannot_be_moved_along_is_not_put_in() -> None:
    content = b"\tone\n\ttwo\n"
    assert find_meant(content, "    one\n    two\n", "  one\n").replacements == ()
    assert patched(content, "    one\n    two\n", "    one\n") == (b"\tone\n", "indentation")


def test_new_text_may_be_less_indented_than_the_old() -> None:
    content = b"    if a:\n        b()\n"
    assert patched(content, "  b()  \n", "  b()\nc()\n") == (
        b"    if a:\n        b()\n      c()\n",
        "indentation",
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_is_put_in_ends_its_lines_as_its_neighbours_do(end: str) -> None:
    content = "".join(f"line {n}{end}" for n in range(4)).encode()
    wanted = content.replace(b"line 1", f"one{end}more".encode())
    assert patched(content, "line 1", "one\nmore") == (wanted, "")
    assert patched(content, "line 1  ", "one\nmore")[0] == wanted
    mixed = b"a\r\nb\nc\n"
    assert patched(mixed, "b\nc", "b\nx\nc") == (b"a\r\nb\nx\nc\n", "")
    assert patched(mixed, "a\nb", "a\nx\nb") == (b"a\r\nx\r\nb\nc\n", "")


def test_a_last_line_without_an_end_stays_without_one() -> None:
    assert patched(b"a\nb", "b\n", "c\n") == (b"a\nc", "blank lines around it")
    assert patched(b"a\nb", "  b\n", "  b\n  c\n") == (b"a\nb\nc", "indentation")


def test_lines_that_are_not_changed_keep_what_was_not_compared() -> None:
    content = b"one  \ntwo\t\nthree   \n"
    old, new = "one\ntwo\nthree\n", "one\n2\nthree\n"
    assert patched(content, old, new) == (
        b"one  \n2\nthree   \n",
        "spaces at the end of lines",
    )


def test_whoever_writes_carriage_returns_can_change_them() -> None:
    assert patched(b"a\r\nb\r\n", "a\r\nb", "a\nb") == (b"a\nb\r\n", "")


def test_lines_can_be_deleted_whole() -> None:
    assert patched(b"a\n  b\nc\n", "b  \n", "")[0] == b"a\nc\n"
    assert patched(b"a\n  b\nc\n", "    b", "")[0] == b"a\n\nc\n"


def test_looking_for_many_places_ends_soon() -> None:
    content = b"same line \n" * 100_000
    match = find_meant(content, "same line\n" * 1000, "x")
    assert len(match.replacements) == MOST_PLACES
    assert len(find_exact(content, "same", "other").replacements) == 100_000


WORDS = st.text(alphabet="ab -\u2013'\u2019", max_size=5)
LINE_ENDS = st.sampled_from(["\n", "\r\n"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(st.tuples(WORDS, LINE_ENDS), min_size=1, max_size=8))
    text = "".join(line + end for line, end in lines)
    return (text if draw(st.booleans()) else text.rstrip("\r\n") + "a").encode()


@st.composite
def copies(draw: st.DrawFn) -> tuple[bytes, str]:
    """A file, and a part of it that was not copied with care."""
    content = draw(files())
    text = content.decode().replace("\r\n", "\n")
    first = draw(st.integers(0, len(text) - 1))
    part = text[first : draw(st.integers(first + 1, len(text)))]
    blanks = st.sampled_from(["", "", " ", "  ", "\n"])
    change = draw(st.sampled_from([plain, str.strip, lambda each: each.replace("\n", " \n")]))
    return content, draw(blanks) + (change(part) if draw(st.booleans()) else part) + draw(blanks)


TEXTS = st.lists(WORDS, min_size=1, max_size=3).map("\n".join)


def squashed(text: bytes | str) -> str:
    """Without everything that may be forgiven."""
    as_text = text.decode() if isinstance(text, bytes) else text
    return "".join(plain(as_text).split())


@given(copies(), TEXTS)
def test_only_what_means_the_same_is_replaced_and_everything_else_stays(
    copied: tuple[bytes, str], new: str
) -> None:
    content, old = copied
    match = find_meant(content, old, new) if old else Match(())
    if len(match.replacements) != 1:
        return
    [each] = match.replacements
    after = replaced(content, match.replacements)

    lines = Lines(content)
    first, last = lines.number_at(each.start), lines.number_at(max(each.end - 1, each.start))
    assert after.startswith(b"".join(lines.all[:first]))
    assert after.endswith(b"".join(lines.all[last + 1 :]))
    before, wanted = squashed(content), squashed(old)
    assert squashed(after) in {
        before[:at] + squashed(new) + before[at + len(wanted) :]
        for at in range(len(before) + 1)
        if before.startswith(wanted, at)
    }


@given(files(), st.data())
def test_a_distorted_copy_of_lines_that_stand_alone_leads_to_them(
    content: bytes, data: st.DataObject
) -> None:
    lines = content.decode().replace("\r\n", "\n").splitlines()
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    block = lines[first : last + 1]
    assume(any(line.strip() for line in block))
    old = "\n".join("  " + plain(line) + data.draw(st.sampled_from(["", " "])) for line in block)
    match = find_meant(content, old, "  NEW")

    assert match.replacements, "the copy means at least the lines it was made of"
    text, wanted = squashed(content), squashed(old)
    if text.find(wanted, text.find(wanted) + 1) < 0:
        after = replaced(content, match.replacements).decode()
        assert squashed(after) == squashed("".join([*lines[:first], "NEW", *lines[last + 1 :]]))


@given(copies(), TEXTS)
def test_what_occurs_once_exactly_is_replaced_exactly(copied: tuple[bytes, str], new: str) -> None:
    content, old = copied
    flat, wanted = content.replace(b"\r\n", b"\n"), old.encode()
    place = flat.find(wanted)
    if old and place >= 0 and flat.find(wanted, place + 1) < 0:
        after, forgiven = patched(content, old, new)
        assert forgiven == ""
        assert after.replace(b"\r\n", b"\n") == flat.replace(wanted, new.encode())
