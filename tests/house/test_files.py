"""What every file of the project has, and what none may have."""

from __future__ import annotations

import ast
import re
import subprocess

from tests.house.sources import ROOT, name_of, own_files, parse, python_files

_PROMISED_TARGETS = {
    "install",
    "serve",
    "test",
    "test-clients",
    "test-cli",
    "check",
    "bench",
    "shape",
}

# Put together from pieces, so that this file does not contain what it looks for.
_FOREIGN = re.compile(
    "|".join(
        [
            r"(?<![\w.~}])/" + r"work/",
            "/tmp" + r"/(?:lab|research)\b",
            "/ro" + r"ot/",
            "index" + r"[-_]url\b",
            r"https?://[^\s/]*(?:art" + r"ifactory|ne" + r"xus|reg" + r"istry|mir" + r"ror)[^\s/]*",
            r"\b(?:py" + r"pi\.org|python" + r"hosted\.org|npm" + r"js\.(?:org|com))\b",
        ]
    ),
    re.IGNORECASE,
)


def test_every_module_says_in_a_docstring_what_it_is_for() -> None:
    silent = [
        name_of(path)
        for path in python_files()
        if path.read_text().strip() and not ast.get_docstring(parse(path))
    ]

    assert silent == [], "add a docstring of one to four lines: what the file is for"


def test_package_files_of_the_house_are_empty() -> None:
    full = [name_of(path) for path in (ROOT / "hermes").rglob("__init__.py") if path.read_text()]

    assert full == [], "move the content into a module that is named for it"


def test_nothing_names_a_machine_or_a_private_package_index() -> None:
    found = [
        f"{name_of(path)}: {match[0]}"
        for path in own_files()
        for match in _FOREIGN.finditer(path.read_bytes().decode(errors="replace"))
    ]

    assert found == [], "use a relative path, a placeholder or a public address"


def test_the_search_for_machine_paths_finds_one() -> None:
    assert _FOREIGN.search("see /" + "work/main for more")
    assert _FOREIGN.search("from https://py" + "pi.org/simple")
    assert not _FOREIGN.search("see hermes/" + "work/main, or https://example.org/simple")


def test_make_knows_every_promised_target() -> None:
    missing = [target for target in sorted(_PROMISED_TARGETS) if not _can_make(target)]

    assert missing == []


def _can_make(target: str) -> bool:
    """Asked with --dry-run: nothing is run, but an unknown target is an error."""
    asked = subprocess.run(
        ["make", "--dry-run", "--always-make", target], cwd=ROOT, capture_output=True
    )
    return asked.returncode == 0


def test_make_without_a_target_explains_every_promised_one() -> None:
    text = (ROOT / "Makefile").read_text()
    explained = set(re.findall(r"^([a-z-]+):.*## ", text, re.MULTILINE))

    assert explained >= _PROMISED_TARGETS
