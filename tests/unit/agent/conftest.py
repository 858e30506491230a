"""The stage, set up in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.agent.stage import Line, Stage


@pytest.fixture
def stage(tmp_path: Path) -> Callable[..., Stage]:
    def build(*script: Line, **options: Any) -> Stage:
        return Stage(script, tmp_path, **options)

    return build
