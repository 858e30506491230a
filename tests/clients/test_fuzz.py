"""Every route that /openapi.json describes, asked with whatever its description allows, and not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from hermes.testing.fake_provider_thread import FakeProviderThread
from hermes.testing.scripted import ScriptedModel
from tests.clients import scenes
from tests.clients.serving import KEY, Served, serving

pytestmark = pytest.mark.suite("every route of `/openapi.json`, fuzzed")

_METHODS = {"get", "put", "post", "delete", "patch"}
_CHECKS = [
    "never_breaks",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
]
_OPTIONS = {
    "--checks": ",".join(_CHECKS),
    "--header": f"Authorization: Bearer {KEY}",
    "--phases": "examples,coverage,fuzzing",
    "--max-examples": "10",
    "--request-timeout": "15",
    "--seed": "1",
    "--generation-database": "none",
    "--warnings": "off",
}

_CHECKS_OF_OURS = {
    "SCHEMATHESIS_HOOKS": "tests.clients.fuzz_checks",
    "PYTHONPATH": str(Path(__file__).parents[2]),
}


@pytest.fixture
def fuzzed(tmp_path: Path) -> Iterator[Served]:
    """A gateway of its own: a fuzzer leaves strange things behind."""
    with (
        FakeProviderThread(ScriptedModel(scenes.answers)) as provider,
        serving(
            tmp_path,
            OPENAI_BASE_URL=provider.base_url,
            OPENAI_API_KEY="provider-key-0123456789",
            HERMES_MODEL="scripted",
        ) as served,
    ):
        yield served


def described_operations(served: Served) -> int:
    """How many there are to ask; the fuzzer leaves out the route it has the document from."""
    paths = httpx.get(f"{served.url}/openapi.json").json()["paths"]
    methods = [method for path in paths.values() for method in path if method in _METHODS]
    return len(methods) - 1


@pytest.mark.timeout(300)
def test_every_answer_is_as_described(fuzzed: Served, tmp_path: Path) -> None:
    options = [word for option in _OPTIONS.items() for word in option]
    program = Path(sys.executable).with_name("st")
    finished = subprocess.run(
        [program, "run", f"{fuzzed.url}/openapi.json", "--no-color", *options],
        env=os.environ | _CHECKS_OF_OURS,
        cwd=tmp_path,  # where it keeps what it found
        capture_output=True,
        text=True,
    )

    assert finished.returncode == 0, finished.stdout + finished.stderr
    # It is content with less, too: the count tells whether it came to the end of the document.
    assert f"Tested: {described_operations(fuzzed)}\n" in finished.stdout, finished.stdout
