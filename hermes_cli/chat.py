"""`hermes chat`: the agent in this terminal, without a server."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from hermes.core.errors import HermesError
from hermes.core.turn import Outcome, TurnResult
from hermes.providers.demo.workspace import furnish
from hermes.settings.loading import load_settings
from hermes.settings.logs import configure_logging
from hermes.settings.model import LogSettings, Settings
from hermes.settings.paths import ensure_private_dir
from hermes.settings.redaction import mask
from hermes.settings.secrecy import hide_process_environment
from hermes_cli.terminal_approvals import TerminalApprovals
from hermes_cli.terminal_conversation import Conversation, open_conversation
from hermes_cli.terminal_prompt import typed_lines
from hermes_cli.terminal_screen import Screen
from hermes_cli.terminal_style import Style, accept_any_text, style_for

INTERRUPTED_EXIT_CODE = 130
HISTORY_FILE = "chat_history"

_HELP = """\
/new    begin a new conversation
/help   show this
/quit   leave, as Ctrl-D does
Ctrl-C stops the answer that is being given."""


@click.command()
@click.option("--model", help="The provider's model to use, like HERMES_MODEL.")
@click.option("--workspace", type=click.Path(file_okay=False), help="Folder the tools work in.")
@click.option("--session", "session_id", metavar="ID", help="Continue a stored conversation.")
@click.argument("message", nargs=-1, metavar="[MESSAGE]")
def chat(
    model: str | None, workspace: str | None, session_id: str | None, message: tuple[str, ...]
) -> None:
    """Talk to the agent in this terminal, without a server.

    With a MESSAGE, or with text on stdin, it answers once and exits: 0 when the answer is
    complete, 1 when it is not, 130 after Ctrl-C. The answer goes to stdout, everything else
    to stderr. Conversations are kept; see `hermes sessions`.
    """
    accept_any_text(sys.stdout, sys.stderr)
    settings = load_settings(
        environ=os.environ, overrides={"agent.model": model, "agent.workspace": workspace}
    )
    question = _question(message)
    _prepare(settings)
    with open_conversation(settings) as conversation:
        if session_id is not None:
            conversation.resume(session_id)
        talk = Talk(conversation, style_for(os.environ, sys.stdout, sys.stderr))
        talk.introduce(settings)
        if question is None:
            talk.go_on(settings.home / HISTORY_FILE)
        else:
            talk.answer_once(question)


class Talk:
    """A conversation with a person, or with a script, at this terminal."""

    def __init__(self, conversation: Conversation, style: Style) -> None:
        self._conversation = conversation
        self._style = style
        self._screen = Screen(sys.stdout, sys.stderr, style, on_lost=conversation.interrupt)
        self._approvals = TerminalApprovals(self._screen, style)
        self._commands: dict[str, Callable[[], None]] = {
            "/new": self._begin_anew,
            "/help": lambda: self._screen.line(_HELP),
        }

    def introduce(self, settings: Settings) -> None:
        """Say who answers, and what to know about it."""
        self._screen.line(self._style.dim(_who_answers(settings)))
        for warning in settings.warnings:
            self._screen.line(self._style.yellow(f"! {warning}"))
        if self._conversation.history:
            self._screen.line(self._style.dim(f"Continuing {self._conversation.session_id}."))

    def answer_once(self, question: str) -> None:
        turn = self._ask(question)
        if turn.outcome is Outcome.INTERRUPTED:
            sys.exit(INTERRUPTED_EXIT_CODE)
        if not turn.is_complete:
            raise HermesError(turn.error or "The answer is not complete.")

    def go_on(self, history_file: Path) -> None:
        """Answer line after line until the person leaves."""
        self._screen.line(self._style.dim("/help shows the commands, Ctrl-D leaves."))
        with typed_lines(history_file, self._style) as lines:
            for line in lines:
                wish = line.strip()
                if wish == "/quit":
                    break
                self._fulfil(wish)
        if self._conversation.history:
            session = f"hermes chat --session {self._conversation.session_id}"
            self._screen.line(self._style.dim(f"To continue: {session}"))

    def _fulfil(self, wish: str) -> None:
        if wish in self._commands:
            self._commands[wish]()
        elif wish.startswith("/") and wish[1:].isalpha():
            self._screen.line(f"There is no command {wish}; /help shows them.")
        elif wish:
            self._report(self._ask(wish))

    def _ask(self, question: str) -> TurnResult:
        turn = self._conversation.ask(question, self._screen.show, self._approvals.decide)
        self._screen.end_line()
        if self._screen.lost is not None:
            _give_up(self._screen.lost)
        return turn

    def _report(self, turn: TurnResult) -> None:
        """What a person should know about a turn beside its answer."""
        if turn.outcome is Outcome.INTERRUPTED:
            self._screen.line(self._style.dim("Interrupted."))
        elif not turn.is_complete:
            self._screen.line(self._style.red(f"✗ {turn.error or 'The answer is not complete.'}"))

    def _begin_anew(self) -> None:
        self._conversation.begin_anew()
        self._screen.line(self._style.dim("A new conversation."))


def _question(words: tuple[str, ...]) -> str | None:
    """What is to be answered once; None when somebody is there to be asked."""
    if not words and sys.stdin.isatty():
        return None
    question = " ".join(words) if words else sys.stdin.read()
    if not question.strip():
        raise click.UsageError("There is nothing to answer: the message is empty.")
    return question.strip()


def _prepare(settings: Settings) -> None:
    configure_logging(_log_settings(settings), sys.stderr, secrets=settings.secrets)
    hide_process_environment()
    # Without this, a command that the agent runs would outlive a terminal that is closed.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    ensure_private_dir(settings.home)
    workspace = ensure_private_dir(settings.agent.workspace)
    if settings.agent.provider.provider == "demo":
        furnish(workspace)


def _log_settings(settings: Settings) -> LogSettings:
    """What goes wrong only, unless more was asked for: a person is reading."""
    if "log.level" in settings.sources:
        return settings.log
    return replace(settings.log, level="WARNING")


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


def _who_answers(settings: Settings) -> str:
    provider = settings.agent.provider
    if provider.provider == "demo":
        return (
            "The built-in demo model answers: a script, not an intelligence. "
            "Set OPENAI_API_KEY or ANTHROPIC_API_KEY for a real one."
        )
    return f"{provider.model} at {mask(provider.base_url, settings.secrets)} answers."


def _give_up(lost: OSError) -> NoReturn:
    if lost.errno == errno.EPIPE:
        # click ends the program quietly: the reader has had enough.
        raise lost
    raise HermesError(f"The answer cannot be written ({lost.strerror}).") from lost
