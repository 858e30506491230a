"""The diff of a replacement is one that `patch` would turn into the replaced file."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hermes.tools.edits import (
    Lines,
    Replacement,
    find_all,
    replaced,
    split_lines,
)
from hermes.tools.edits import unified_diff as diff_of

HEADER = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@\n")
NO_END = "\\ No newline at end of file\n"


def every(content: bytes, old: bytes, new: bytes) -> list[Replacement]:
    return [Replacement(at, at + len(old), new) for at in find_all(content, old)]


def unified_diff(name: str, content: bytes, old: bytes, new: bytes) -> str:
    return diff_of(name, content, every(content, old, new))


def applied(content: bytes, diff: str) -> bytes:
    """What the diff makes of `content`; every claim the diff makes is checked on the way."""
    old = split_lines(content)
    new: list[bytes] = []
    at = 0
    for header, body in hunks_of(diff):
        start, count, new_start, new_count = header
        first = start - 1 if count else start
        new += old[at:first]
        assert len(new) == (new_start - 1 if new_count else new_start)
        before = [text for sign, text in body if sign in " -"]
        after = [text for sign, text in body if sign in " +"]
        assert old[first : first + count] == before
        assert len(after) == new_count
        new += after
        at = first + count
    return b"".join(new + old[at:])


def hunks_of(diff: str) -> list[tuple[tuple[int, ...], list[tuple[str, bytes]]]]:
    hunks: list[tuple[tuple[int, ...], list[tuple[str, bytes]]]] = []
    for line in [each.decode() for each in split_lines(diff.encode())][2:]:
        header = HEADER.fullmatch(line)
        if header:
            hunks.append((tuple(map(int, header.groups())), []))
        elif line == NO_END:
            sign, text = hunks[-1][1].pop()
            hunks[-1][1].append((sign, text.removesuffix(b"\n")))
        else:
            hunks[-1][1].append((line[0], line[1:].encode()))
    return hunks


PIECES = st.text(alphabet="ab\n", max_size=40)


@given(
    PIECES, st.text(alphabet="ab\n", min_size=1, max_size=4), st.text(alphabet="abc\n", max_size=5)
)
def test_a_diff_turns_the_old_content_into_the_new(content: str, old: str, new: str) -> None:
    assume(old in content and old != new)
    before = content.encode()
    diff = unified_diff("f", before, old.encode(), new.encode())
    assert applied(before, diff) == before.replace(old.encode(), new.encode())


@given(st.text(alphabet="ab\n", min_size=1, max_size=30), st.data())
def test_a_diff_shows_replacements_at_any_places(content: str, data: st.DataObject) -> None:
    before = content.encode()
    ends = data.draw(st.lists(st.integers(0, len(before)), max_size=6).map(sorted))
    spans = list(zip(ends[::2], ends[1::2], strict=False))
    news = [data.draw(st.text(alphabet="bc\n", max_size=3)) for _ in spans]
    replacements = [
        Replacement(start, end, new.encode()) for (start, end), new in zip(spans, news, strict=True)
    ]
    after = replaced(before, replacements)
    assert applied(before, diff_of("f", before, replacements)) == after


@given(PIECES, st.text(alphabet="ab\n", min_size=1, max_size=3), PIECES)
def test_replacing_every_place_is_what_bytes_do_themselves(
    content: str, old: str, new: str
) -> None:
    raw, wanted, put = content.encode(), old.encode(), new.encode()
    assert replaced(raw, every(raw, wanted, put)) == raw.replace(wanted, put)


def test_a_diff_shows_three_lines_around_the_change() -> None:
    content = "".join(f"line {n}\n" for n in range(1, 11)).encode()
    assert unified_diff("a.txt", content, b"line 5", b"LINE") == (
        "--- a.txt\n+++ a.txt\n@@ -2,7 +2,7 @@\n line 2\n line 3\n line 4\n-line 5\n+LINE\n"
        " line 6\n line 7\n line 8\n"
    )


def test_unchanged_lines_inside_the_replaced_text_are_context() -> None:
    diff = unified_diff("f", b"a\nb\nc\n", b"a\nb\nc\n", b"a\nB\nc\n")
    assert diff.splitlines()[3:] == [" a", "-b", "+B", " c"]


def test_distant_changes_are_separate_hunks() -> None:
    content = b"x\n" + b"-\n" * 20 + b"x\n"
    assert unified_diff("f", content, b"x\n", b"").count("@@ -") == 2


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the patch program")
def test_the_patch_program_agrees(tmp_path: Path) -> None:
    content = b"one\ntwo\n" + b"-\n" * 20 + b"two"
    (tmp_path / "f").write_bytes(content)
    diff = unified_diff("f", content, b"two", b"2\n2")
    subprocess.run(["patch", "-s", "f"], input=diff.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "f").read_bytes() == content.replace(b"two", b"2\n2")


def test_many_changes_in_a_large_file_take_no_time() -> None:
    content = b"same line\n" * 50_000
    assert unified_diff("f", content, b"line", b"LINE").count("\n+") == 50_001


@given(st.text(alphabet="ab\r\n"))
def test_lines_join_to_the_content_and_know_their_bytes(content: str) -> None:
    raw = content.encode()
    lines = Lines(raw)
    assert b"".join(lines.all) == raw
    for place in range(len(raw)):
        assert lines.number_at(place) == raw[:place].count(b"\n")


def test_matches_do_not_overlap() -> None:
    assert find_all(b"aaaa", b"aa") == [0, 2]
