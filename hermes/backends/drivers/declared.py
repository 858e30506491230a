"""Any CLI, as the operator declares it: how it is called, and how it is read. Pure.

Nothing is known of such a CLI, so that nothing is promised for it: it has the one profile that the
operator says it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hermes.backends.drivers.base import Features, Installed, Kind, Peer
from hermes.backends.drivers.declared_output import Output, output_of
from hermes.backends.errors import CommandFailed
from hermes.backends.jobs import Endpoint, Places, Plan, Question, Setup
from hermes.backends.saying import CloseInput, Ending, Event, Exit, Step, Write
from hermes.core.cli_agents import Profile
from hermes.settings.cli_settings import DeclaredCli

KIND = Kind(
    name="command",
    title="a command",
    install="",
    tested=None,
    models=(),
    default_model=None,
    login_files=(),
    login_variables=(),
    login_help="log in with the command itself",
    provider_dialect=None,
)

ARGUMENT_LIMIT = 100 * 1024
"""Linux refuses an argument over 128 KiB."""


class DeclaredDriver:
    """A CLI of the operator's."""

    def __init__(self, installed: Installed, declared: DeclaredCli, *, profile: Profile) -> None:
        self._installed = installed
        self._declared = declared
        self._profile = profile

    @property
    def features(self) -> Features:
        declared = self._declared
        tells_sessions = declared.output == "claude" or declared.session_field is not None
        return Features(
            resumes=declared.resume_flag is not None
            and (declared.session_flag is not None or tells_sessions),
            chooses_session_ids=declared.session_flag is not None,
            profiles=frozenset({self._profile}),
        )

    def plan(
        self, setup: Setup, places: Places, endpoint: Endpoint | None, question: Question | None
    ) -> Plan:
        """Raises `CommandFailed` for a prompt that is too long to be an argument."""
        options = [word for option in self._options(setup) for word in option]
        argv = [*self._installed.command, *self._declared.arguments, *options]
        if self._declared.prompt_by == "argument" and question is not None:
            # Behind the dashes nothing is an option, whatever it looks like.
            argv += ["--", self._prompt(setup, question)]
        if any(len(word.encode()) > ARGUMENT_LIMIT for word in argv):
            raise CommandFailed(
                f"What {self._installed.command[0]} is asked is too long to be an argument "
                f"({ARGUMENT_LIMIT} bytes); ask for less, or declare prompt_by: stdin"
            )
        return Plan(argv=tuple(argv), environment=_environment(endpoint))

    def peer(self, setup: Setup, places: Places) -> Peer:
        return DeclaredPeer(self, setup)

    def input_of(self, setup: Setup, question: Question) -> bytes:
        """What the process is given by its standard input."""
        by_argument = self._declared.prompt_by == "argument"
        return b"" if by_argument else self._prompt(setup, question).encode()

    def output(self, setup: Setup) -> Output:
        return output_of(self._declared, keeps_session=setup.session is not None)

    def _options(self, setup: Setup) -> list[tuple[str, str]]:
        declared, session = self._declared, setup.session
        is_resumed = session is not None and session.is_resumed
        session_flag = declared.resume_flag if is_resumed else declared.session_flag
        given = (
            (declared.model_flag, setup.model),
            (declared.system_prompt_flag, setup.system_prompt),
            (session_flag, session.id if session else None),
        )
        return [(flag, _sayable(value)) for flag, value in given if flag and value]

    def _prompt(self, setup: Setup, question: Question) -> str:
        is_new = setup.session is None or not setup.session.is_resumed
        if setup.system_prompt and is_new and self._declared.system_prompt_flag is None:
            return _sayable(f"{setup.system_prompt}\n\n{question.text}")
        return _sayable(question.text)


class DeclaredPeer:
    """Gives the prompt and reads until the process ends."""

    def __init__(self, driver: DeclaredDriver, setup: Setup) -> None:
        self._driver = driver
        self._setup = setup
        self._output = driver.output(setup)

    def greet(self) -> Sequence[Step]:
        return []

    def ask(self, question: Question) -> Sequence[Step]:
        given = self._driver.input_of(self._setup, question)
        return [Write(given), CloseInput()] if given else [CloseInput()]

    def read(self, line: bytes) -> Sequence[Event | Step]:
        return self._output.read(line)

    def answer(self, question_id: str, *, is_allowed: bool, message: str = "") -> Sequence[Step]:
        return []

    def interrupt(self) -> Sequence[Step]:
        return []

    def dismiss(self) -> Sequence[Step]:
        return []

    def finish(self, exit_: Exit) -> Ending:
        ending, session = self._output.finish(exit_), self._setup.session
        kept = (ending.session_id or session.id) if session is not None else None
        return replace(ending, session_id=kept)


def _environment(endpoint: Endpoint | None) -> dict[str, str]:
    """The provider by the names that most programs know."""
    plain = {"NO_COLOR": "1", "TERM": "dumb"}
    if endpoint is None:
        return plain
    return {
        **plain,
        "OPENAI_BASE_URL": f"{endpoint.base_url.rstrip('/')}/v1",
        "OPENAI_API_KEY": endpoint.key,
        "ANTHROPIC_BASE_URL": endpoint.base_url.rstrip("/"),
        "ANTHROPIC_API_KEY": endpoint.key,
    }


def _sayable(text: str) -> str:
    """What can be an argument: no argument has a NUL in it, or half a character."""
    return text.replace("\0", "").encode(errors="replace").decode()
