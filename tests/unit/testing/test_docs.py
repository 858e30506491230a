"""The examples of docs/testing.md run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "testing.md"
EXAMPLES = re.findall(r"^```python test\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("number", range(5))
def test_an_example_runs(number: int) -> None:
    exec(compile(EXAMPLES[number], f"docs/testing.md example {number}", "exec"), {})


def test_every_example_is_run() -> None:
    assert len(EXAMPLES) == 6
