"""Runs one case of a JavaScript client in a Node of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.clients.serving import KEY, MODEL, Served
from tests.clients.stage import Stage

_FOLDER = Path(__file__).parent / "node"
_NEWER_NODE = _FOLDER / "node_modules" / ".bin" / "node"
"""Brought along by the packages where there is one for the machine; the AI SDK wants 22."""
_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class NodeClient:
    """A script in `node/` whose cases talk to a gateway."""

    script: str
    served: Served

    def run(self, case: str, **options: Any) -> Any:
        """What the case printed."""
        with self._start(case, options) as process:
            printed, complaint = process.communicate(timeout=_TIMEOUT)
        assert printed, complaint
        return json.loads(printed)

    def leave(self, stage: Stage, **options: Any) -> None:
        """Let the client leave its stream, and see the model stop while the client still lives."""
        with self._start("leaving", options) as process:
            assert process.stdout is not None
            assert json.loads(process.stdout.readline()) == {"left": True}
            stage.wait_until_left()
            process.communicate(timeout=_TIMEOUT)

    def _start(self, case: str, options: dict[str, Any]) -> subprocess.Popen[str]:
        environment = {
            "GATEWAY_BASE_URL": self.served.base_url,
            "GATEWAY_KEY": KEY,
            "GATEWAY_MODEL": MODEL,
        }
        return subprocess.Popen(
            [node(), str(_FOLDER / self.script), case, json.dumps(options)],
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def node() -> str:
    """The Node to use; without one, or without packages, the test is skipped."""
    if not (_FOLDER / "node_modules").is_dir():
        pytest.skip("no JavaScript clients: `make test-clients` installs them where npm is present")
    found = str(_NEWER_NODE) if _NEWER_NODE.exists() else shutil.which("node")
    if found is None:
        pytest.skip("no Node on this machine")
    return found
