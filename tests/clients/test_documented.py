"""The examples of docs/clients/index.md, run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients import scenes
from tests.clients.node_process import node
from tests.clients.serving import KEY, Served
from tests.clients.stage import Stage

pytestmark = pytest.mark.suite("the examples of [index.md](index.md), run as they stand")

_PAGE = Path(__file__).parents[2] / "docs" / "clients" / "index.md"
_BLOCK = re.compile(r"^```(python|js|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _examples() -> dict[str, tuple[str, str]]:
    """The language and the code of the first block of every section that has one."""
    _, *sections = _PAGE.read_text().split("\n## ")
    found = [(section.partition("\n")[0], _BLOCK.search(section)) for section in sections]
    return {title: (block[1], block[2]) for title, block in found if block}


def _command(language: str, code: str) -> list[str]:
    match language:
        case "python":
            return [sys.executable, "-c", code]
        case "js":
            return [node(), "--input-type=module", "-e", code]
        case _:
            return ["sh", "-c", code]


def test_every_kind_of_client_has_an_example() -> None:
    languages = sorted(language for language, _ in _examples().values())

    assert languages == ["js", "js", "python", "python", "python", "python", "python", "sh"]


@pytest.mark.parametrize("client", _examples())
def test_the_example_prints_the_answer(client: str, served: Served, stage: Stage) -> None:
    stage.always(scenes.answers)
    language, code = _examples()[client]
    finished = subprocess.run(
        _command(language, code),
        env=os.environ | {"GATEWAY_URL": served.base_url, "GATEWAY_KEY": KEY},
        cwd=Path(__file__).parent / "node",  # where the packages of the JavaScript examples are
        capture_output=True,
        text=True,
        timeout=50,
    )

    assert finished.returncode == 0, finished.stderr
    assert scenes.ANSWER in finished.stdout
