"""Files are read with line numbers, in parts, and every refusal says what to do."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes.tools.base import ToolContext

Run = Callable[..., str]


@pytest.fixture
def root(context: ToolContext) -> Path:
    return context.workspace.root


def test_lines_are_numbered(run: Run, root: Path) -> None:
    (root / "a.txt").write_text("one\n\nthree")
    expected = "     1\tone\n     2\t\n     3\tthree\n[End of file, 3 lines.]"
    assert run("read_file", path="a.txt") == expected


def test_a_part_says_how_to_read_on(run: Run, root: Path) -> None:
    (root / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 1001)))
    result = run("read_file", path="a.txt", offset=10, limit=2)
    assert result == (
        "    10\tline 10\n    11\tline 11\n[More lines follow; read on with offset=12.]"
    )
    assert run("read_file", path="a.txt").endswith("read on with offset=501.]")
    assert run("read_file", path="a.txt", offset=999).endswith("[End of file, 1,000 lines.]")


def test_reading_on_as_told_shows_the_whole_file_once(run: Run, root: Path) -> None:
    texts = [f"{n} " + "x" * 1500 for n in range(1, 101)]
    (root / "long.txt").write_text("\n".join(texts))
    seen: list[str] = []
    offset = 1
    while True:
        *lines, note = run("read_file", path="long.txt", offset=offset).split("\n")
        seen += [line.partition("\t")[2] for line in lines]
        if "offset=" not in note:
            break
        offset = int(note.partition("offset=")[2].rstrip(".]"))
    assert seen == texts


def test_a_very_long_line_is_cut_visibly(run: Run, root: Path) -> None:
    (root / "min.js").write_text("x" * 100_000)
    assert "x … 98,000 bytes cut …\n" in run("read_file", path="min.js")


def test_bytes_that_are_no_text_are_visible(run: Run, root: Path) -> None:
    (root / "latin.txt").write_bytes(b"caf\xe9\n")
    result = run("read_file", path="latin.txt")
    assert "caf\ufffd" in result
    assert "not UTF-8" in result


def test_a_replacement_character_in_the_file_is_no_damage(run: Run, root: Path) -> None:
    (root / "a.txt").write_text("\ufffd\n")
    assert "not UTF-8" not in run("read_file", path="a.txt")


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("binary", "binary is binary (1.2 kB); only text can be read."),
        ("notes.tx", "notes.tx does not exist. Did you mean notes.txt?"),
        ("no/such", "no/such does not exist. Its directory does not exist either"),
        ("folder", "folder is a directory. Use list_files"),
        ("pipe", "pipe is a device or pipe"),
        ("empty", "empty is empty."),
        ("../x", "'../x' is outside the workspace."),
        ("notes.txt/x", "Could not read notes.txt/x: Not a directory."),
    ],
)
def test_what_cannot_be_read_is_explained(run: Run, root: Path, path: str, answer: str) -> None:
    (root / "binary").write_bytes(b"\x7fELF\0" + b"x" * 1200)
    (root / "notes.txt").write_text("x")
    (root / "folder").mkdir()
    (root / "empty").touch()
    os.mkfifo(root / "pipe")
    assert run("read_file", path=path).startswith(answer)


def test_an_offset_past_the_end_tells_the_length(run: Run, root: Path) -> None:
    (root / "a.txt").write_text("x\ny\n")
    assert run("read_file", path="a.txt", offset=9).startswith("a.txt has only 2 lines")
