"""The `claude` CLI as the bridge calls it, and what becomes of what it prints. Pure.

The driver reads the lines; here is what only the bridge does: the prompt is an argument if it fits,
permissions are what the operator's command says, and a program that prints plain text instead of
the CLI's lines has answered as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hermes.backends.drivers.claude_peer import OneShotPeer
from hermes.backends.drivers.foreign_json import Json, object_of
from hermes.backends.jobs import CliSession, Question, Setup
from hermes.backends.saying import CloseInput, Ending, EndKind, Event, Exit, Step

MODELS = ("haiku", "sonnet", "opus")
DEFAULT_MODEL = "sonnet"

ARGUMENT_LIMIT = 100 * 1024
"""Linux refuses an argument over 128 KiB; a longer prompt goes through stdin."""

GUARDS = (
    # A checked-out repository may bring hooks, a key helper or another base URL: its settings
    # stay unread.
    ("--setting-sources", "user"),
    # Nor may it bring servers of its own to start.
    ("--strict-mcp-config",),
)
"""Given to every run unless the operator's command says something about them."""


_OUTPUT = ("-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages")
"""In pieces, also if nobody reads along: only they tell what a run has used that was stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What the CLI is to do."""

    model: str
    prompt: str
    """Anything that can be an argument: no NUL, no half of a character pair."""
    agent: str | None = None
    """One of the CLI's own agents; None: the usual one."""
    max_budget_usd: float
    timeout_seconds: float

    @property
    def text(self) -> str:
        # A prompt that begins with a slash would be a command to the CLI itself.
        return f" {self.prompt}" if self.prompt.startswith("/") else self.prompt

    @property
    def fits_an_argument(self) -> bool:
        return len(self.text.encode()) <= ARGUMENT_LIMIT


def arguments(command: tuple[str, ...], errand: Errand) -> tuple[str, ...]:
    """The command line; the prompt comes last, after which nothing is taken for a flag."""
    budget = ("--max-budget-usd", f"{errand.max_budget_usd:g}")
    guards = [word for guard in (*GUARDS, budget) if guard[0] not in command for word in guard]
    agent = ["--agent", errand.agent] if errand.agent else []
    prompt = ["--", errand.text] if errand.fits_an_argument else []
    return (*command, *guards, *_OUTPUT, *agent, "--model", errand.model, *prompt)


class BridgePeer(OneShotPeer):
    """Our side of the talk with one process."""

    def __init__(self, job_id: str, errand: Errand, hear_line: Callable[[bytes], None]) -> None:
        """`hear_line` is told the lines as they are, but for pieces of messages."""
        # The CLI keeps the conversation, in the operator's home: its id is worth telling.
        super().__init__(Setup(job_id=job_id, session=CliSession()))
        self._errand = errand
        self._hear_line = hear_line
        self._plain: list[bytes] | None = []
        """What it prints as long as that is no line of the CLI's; None: it is the CLI."""
        self.exit: Exit | None = None

    def ask(self, question: Question) -> Sequence[Step]:
        return (CloseInput(),) if self._errand.fits_an_argument else super().ask(question)

    def read(self, line: bytes) -> Sequence[Event | Step]:
        value = object_of(line)
        if value is None or value.get("type") != "stream_event":
            self._hear_line(line)
        if _is_of_the_cli(line, value):
            self._plain = None
        elif self._plain is not None:
            self._plain.append(line)
        return super().read(line)

    def finish(self, exit_: Exit) -> Ending:
        self.exit = exit_
        ending = super().finish(exit_)
        text = b"\n".join(self._plain or ()).decode(errors="replace").strip()
        if text and exit_.code == 0 and exit_.stopped is None:
            return Ending(kind=EndKind.ANSWERED, text=text, unsaid=text)
        return ending


def _is_of_the_cli(line: bytes, value: Json | None) -> bool:
    """Whether it is an object with a type, or the beginning of one."""
    if value is None:
        return line.lstrip().startswith(b"{")
    return isinstance(value.get("type"), str)
