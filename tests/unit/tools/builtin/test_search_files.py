"""Searching finds the same in both engines, and no expression can hang it."""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.tools.base import ToolContext
from hermes.tools.registry import Registry
from hermes.tools.workspace import Workspace

Run = Callable[..., str]

RIPGREP = shutil.which("rg")
STAND_IN = """#!{python}
import sys
if "-e" in sys.argv and "(?=" in sys.argv[sys.argv.index("-e") + 1]:
    print("regex parse error")
    sys.exit(2)
print("./a.py\\0002:def two():")
print("./sub/b.py\\0001:def three():")
print("arguments", *sys.argv[1:])
"""


@pytest.fixture(
    params=["scan", pytest.param("rg", marks=pytest.mark.skipif(not RIPGREP, reason="no rg"))]
)
def engine(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Searches with our own scan, and with ripgrep where it is installed."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    if request.param == "rg":
        (programs / "rg").symlink_to(str(RIPGREP))
    return str(request.param)


@pytest.fixture
def root(context: ToolContext) -> Path:
    root = context.workspace.root
    for folder in ("sub", ".git", "node_modules", ".hidden"):
        (root / folder).mkdir()
        (root / folder / "b.py").write_text("def three():\n")
    (root / "a.py").write_text("# first\ndef two():\r\n    pass\n")
    (root / "z.txt").write_text("def in text\n")
    (root / "binary").write_bytes(b"def \0\n")
    (root / "link.py").symlink_to("a.py")
    return root


@pytest.mark.usefixtures("engine")
class TestBothEngines:
    def test_matches_are_path_line_and_text(self, run: Run, root: Path) -> None:
        assert run("search_files", pattern=r"^def \w+").split("\n") == [
            ".hidden/b.py:1: def three():",
            "a.py:2: def two():",
            "sub/b.py:1: def three():",
            "z.txt:1: def in text",
        ]

    @pytest.mark.parametrize(
        ("glob", "files"),
        [
            ("*.txt", ["z.txt"]),
            ("sub/*.py", ["sub/b.py"]),
            ("**/b.py", [".hidden/b.py", "sub/b.py"]),
            ("*.{txt,md}", ["z.txt"]),
            ("!*.py", ["z.txt"]),
            ("[!b].py", ["a.py"]),
            ("?.txt", ["z.txt"]),
        ],
    )
    def test_a_glob_narrows_the_files(
        self, run: Run, root: Path, glob: str, files: list[str]
    ) -> None:
        found = run("search_files", pattern="def", glob=glob).split("\n")
        assert [line.partition(":")[0] for line in found] == files

    def test_a_folder_or_a_file_can_be_searched(self, run: Run, root: Path) -> None:
        assert run("search_files", pattern="def", path="sub") == "sub/b.py:1: def three():"
        assert run("search_files", pattern="def", path="z.txt") == "z.txt:1: def in text"

    def test_no_match_is_said(self, run: Run, root: Path) -> None:
        assert run("search_files", pattern="nowhere") == "No matches."

    def test_the_first_matches_come_with_a_hint(self, run: Run, root: Path) -> None:
        lines = run("search_files", pattern="def", max_results=2).split("\n")
        assert len(lines) == 3
        assert lines[-1].startswith("[Only the first 2 matches")

    def test_exactly_as_many_as_wanted_need_no_hint(self, run: Run, root: Path) -> None:
        assert len(run("search_files", pattern="def", max_results=4).split("\n")) == 4

    def test_a_bad_expression_is_explained(self, run: Run, root: Path) -> None:
        result = run("search_files", pattern="(unclosed")
        assert result.startswith("The pattern or glob cannot be read: missing ), unterminated")

    def test_long_lines_are_shortened(self, run: Run, root: Path) -> None:
        (root / "min.js").write_text("needle" + "x" * 3000)
        assert run("search_files", pattern="needle") == f"min.js:1: needle{'x' * 294}…"

    def test_an_expression_may_begin_with_a_dash(self, run: Run, root: Path) -> None:
        (root / "flags").write_text("--help\n")
        assert run("search_files", pattern="--help") == "flags:1: --help"

    def test_the_end_of_a_line_stands_before_its_carriage_return(
        self, run: Run, root: Path
    ) -> None:
        assert run("search_files", pattern=r"two\(\):$") == "a.py:2: def two():"

    def test_what_follows_the_last_line_is_no_line(self, run: Run, root: Path) -> None:
        (root / "blank").write_text("x\n\n")
        assert run("search_files", pattern="^$", path="blank") == "blank:2: "

    def test_files_with_a_mark_of_their_encoding_are_text(self, run: Run, root: Path) -> None:
        (root / "wide").write_text("def wide\n", encoding="utf-16")
        (root / "marked").write_text("def marked\n", encoding="utf-8-sig")
        assert run("search_files", pattern="^def (wide|marked)$").split("\n") == [
            "marked:1: def marked",
            "wide:1: def wide",
        ]

    def test_large_files_are_left_out(self, run: Run, root: Path) -> None:
        (root / "limit").write_bytes(b"needle\n" + b"x" * (10_000_000 - 7))
        (root / "over").write_bytes(b"needle\n" + b"x" * (10_000_000 - 6))
        assert run("search_files", pattern="needle") == "limit:1: needle"
        assert "over is over 10 MB" in run("search_files", pattern="needle", path="over")

    def test_a_named_file_is_searched_whatever_the_glob_says(self, run: Run, root: Path) -> None:
        found = run("search_files", pattern="def", path="z.txt", glob="*.py")
        assert found == "z.txt:1: def in text"

    def test_a_glob_may_have_escaped_characters(self, run: Run, root: Path) -> None:
        (root / "[x].md").write_text("def\n")
        assert run("search_files", pattern="def", glob=r"\[x\].md") == "[x].md:1: def"

    def test_lookahead_works(self, run: Run, root: Path) -> None:
        assert run("search_files", pattern="def (?=two)") == "a.py:2: def two():"

    def test_places_outside_are_refused(self, run: Run, root: Path) -> None:
        assert "outside the workspace" in run("search_files", pattern="x", path="..")
        assert "does not exist" in run("search_files", pattern="x", path="none")
        assert "no search can use" in run("search_files", pattern="a\0b")


def test_an_expression_that_blows_up_can_be_stopped(
    run: Run, root: Path, context: ToolContext, engine: str
) -> None:
    (root / "evil.txt").write_text("a" * 60 + "!\n")
    timer = threading.Timer(0.5, context.stop.set)
    timer.start()
    started = time.monotonic()
    result = run("search_files", pattern=r"^(a+)+(?=$)")
    assert time.monotonic() - started < 1.5
    assert "Interrupted" in result or engine == "rg"
    timer.join()


def test_an_expression_that_blows_up_meets_the_clock(
    run: Run, root: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes.tools.builtin.search_files._SECONDS", 1)
    (root / "a_good.txt").write_text("aaa\n")
    (root / "evil.txt").write_text("a" * 60 + "!\n")
    result = run("search_files", pattern=r"^(a+)+(?=$)")
    assert result.startswith("a_good.txt:1: aaa")
    assert "Stopped after 1 seconds" in result or engine == "rg"


TEXT = st.lists(st.text(alphabet="ab0 .\u00e9\t", max_size=6), max_size=5)
FILES = st.dictionaries(
    st.sampled_from(["a.py", "b/a.py", "b/c.txt", "b-c/d.py", "B.txt", ".e/f", "node_modules/g"]),
    st.tuples(
        TEXT, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])
    ),
)
PATTERNS = st.lists(
    st.sampled_from(
        [
            "a",
            "b",
            "0",
            ".",
            r"\.",
            "^",
            "$",
            "a*",
            "[ab]",
            r"\b",
            r"\w",
            r"\s",
            r"\d",
            "(a|b)",
            "é",
        ]
    ),
    max_size=4,
).map("".join)
GLOBS = st.sampled_from(["", "*.py", "b/*", "**/*.txt", "!*.py", "*.{py,txt}", "?.py", "b/**"])


@pytest.mark.skipif(not RIPGREP, reason="no rg")
@given(files=FILES, pattern=PATTERNS, glob=GLOBS, most=st.sampled_from([2, 100]))
@settings(max_examples=30, deadline=None)
def test_both_engines_find_the_same(
    files: dict[str, tuple[list[str], str, str]], pattern: str, glob: str, most: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        root = Path(folder) / "tree"
        root.mkdir()
        for name, (lines, end, codec) in files.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_bytes(end.join(lines).encode(codec))
        context = ToolContext(workspace=Workspace(root), stop=Event(), report=lambda _line: None)
        arguments = {"pattern": pattern, "glob": glob, "max_results": most}
        registry, results = Registry.builtin(), []
        for program in (RIPGREP, None):
            patch.setattr("shutil.which", lambda _name, found=program: found)
            results.append(registry.run("search_files", arguments, context))
    assert results[0] == results[1]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program named rg that prints what ripgrep would."""
    programs = tmp_path / "stand-in"
    programs.mkdir()
    (programs / "rg").write_text(STAND_IN.format(python=sys.executable))
    (programs / "rg").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))


@pytest.mark.usefixtures("stand_in")
def test_ripgrep_is_used_when_it_is_on_the_path(run: Run, root: Path) -> None:
    assert run("search_files", pattern="only the stand-in finds this").split("\n") == [
        "a.py:2: def two():",
        "sub/b.py:1: def three():",
    ]


@pytest.mark.usefixtures("stand_in")
def test_an_expression_ripgrep_cannot_read_goes_to_our_own_scan(run: Run, root: Path) -> None:
    assert run("search_files", pattern="def (?=in)") == "z.txt:1: def in text"
