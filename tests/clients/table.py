"""The compatibility table: which client passed which cases, as a page of the documentation."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

NODE_PACKAGES = Path(__file__).parent / "node" / "node_modules"

CASES = {
    "models": "list models",
    "chat": "chat",
    "stream": "stream",
    "server tool": "server tool",
    "client tool": "client tool",
    "structured": "structured output",
    "image": "image",
    "responses": "Responses create",
    "responses stream": "Responses stream",
    "chain": "Responses chain",
    "stored": "Responses retrieve, delete",
    "approval": "approval",
    "resume": "resume",
    "errors": "errors",
    "leaving": "leaving",
}
"""The cases in the order of the table, and what its columns are called."""

_INTRODUCTION = """\
# What works with which client

Written by `make test-clients`, which runs every client against a gateway over real sockets.
Each cell stands for one or more tests in `tests/clients`. How to point a client at the gateway is
on [the page of the clients](index.md).

✓ works · ✗ does not · - the client has no such thing, or it was not tried
"""

_MEANINGS = """\
* **list models**: the gateway's model is found.
* **chat**, **stream**: the answer arrives, whole and in pieces.
* **server tool**: the agent uses a tool of its own. The answer arrives, the client runs nothing
  and asks once; what it sends back with the next question is understood.
* **client tool**: the model calls a tool the client brought; the client runs it, and the model
  answers from the result. Streamed and not.
* **structured output**: the answer follows the client's JSON schema.
* **image**: the model is shown the client's picture.
* **Responses**: the same over `/v1/responses`; continued by `previous_response_id`; read back and
  deleted.
* **approval**: a command that needs a person's approval is shown in the answer, and runs after
  a "yes" in the next message.
* **resume**: a stream that broke off is read on from its last number; a run is found by its id.
* **errors**: a wrong key, a missing thing, a bad request, a busy and a broken provider raise the
  client's own classes.
* **leaving**: a client that closes a stream stops the model call within a second. For Responses
  the gateway was told so (`runs.disconnect_responses: cancel`).
"""

_SUITES = """\
## Beyond single clients

| tests | passed |
|---|---|"""


@dataclass(frozen=True, slots=True)
class Client:
    """A row of the table: a name, and the package whose version stands beside it."""

    name: str
    package: str
    is_node: bool = False

    @property
    def version(self) -> str:
        if not self.is_node:
            return version(self.package)
        path = NODE_PACKAGES / self.package / "package.json"
        return str(json.loads(path.read_text())["version"]) if path.exists() else "not installed"


@dataclass(slots=True)
class Table:
    """Fills up while the tests run."""

    outcomes: dict[Client, dict[str, list[str]]] = field(default_factory=dict)
    suites: dict[str, list[str]] = field(default_factory=dict)

    def add(self, client: Client, case: str, outcome: str) -> None:
        if case not in CASES:
            raise ValueError(f"{case!r} is not a column of the table; see CASES in {__name__}.")
        self.outcomes.setdefault(client, {}).setdefault(case, []).append(outcome)

    def add_to_suite(self, name: str, outcome: str) -> None:
        self.suites.setdefault(name, []).append(outcome)

    def page(self) -> str:
        head = "| client | version | " + " | ".join(CASES.values()) + " |"
        rule = "|---|---|" + ":-:|" * len(CASES)
        rows = [self._row(client) for client in sorted(self.outcomes, key=_order)]
        suites = [f"| {name} | {_share(self.suites[name])} |" for name in sorted(self.suites)]
        return "\n".join([_INTRODUCTION, head, rule, *rows, "", _MEANINGS, _SUITES, *suites, ""])

    def _row(self, client: Client) -> str:
        cells = [_cell(self.outcomes[client].get(case, [])) for case in CASES]
        return f"| {client.name} | {client.version} | " + " | ".join(cells) + " |"


def _order(client: Client) -> str:
    return client.name.lower()


def _share(outcomes: list[str]) -> str:
    return f"{outcomes.count('passed')} of {len(outcomes)}"


def _cell(outcomes: list[str]) -> str:
    """A case works when all its tests passed; one that was only skipped was not tried."""
    tried = [outcome for outcome in outcomes if outcome != "skipped"]
    if not tried:
        return "-"
    return "✓" if all(outcome == "passed" for outcome in tried) else "✗"
