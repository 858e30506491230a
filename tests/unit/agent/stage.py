"""A stage for one turn: the model is scripted, tools are small, and all that happens is noted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from hermes.agent.approving import approver_for
from hermes.agent.chain import Chain
from hermes.agent.loop import converse
from hermes.agent.seams import AgentSeams
from hermes.agent.stopping import StopSignal
from hermes.core.data_marks import unmark
from hermes.core.errors import Fenced
from hermes.core.events import Event
from hermes.core.messages import Content, Message
from hermes.core.run_link import RunLink, Steer
from hermes.core.turn import TurnParameters, TurnResult, Usage
from hermes.providers.base import dialect_for
from hermes.providers.health import Health
from hermes.providers.reply import Reply, ToolCall
from hermes.settings.model import ApprovalSettings, ProviderSettings
from hermes.tools.base import Tool, ToolContext, ToolProblem, tool
from hermes.tools.registry import Registry
from hermes.tools.workspace import Workspace

ONE_CALL = Usage(input_tokens=2, output_tokens=3, total_tokens=5)


def reply(text: str | None = None, *calls: ToolCall, **fields: Any) -> Reply:
    standard: dict[str, Any] = {
        "reasoning": None,
        "finish_reason": "tool_calls" if calls else "stop",
        "usage": ONE_CALL,
        "raw_usage": None,
        "model": "m",
    }
    return Reply(text=text, tool_calls=calls, **{**standard, **fields})


def calls(name: str, arguments: str = "{}", id: str = "c1") -> ToolCall:
    return ToolCall(id=id, name=name, arguments=arguments)


@tool(toolset="small", preview=lambda arguments: str(arguments.get("word", "")))
def echo(context: ToolContext, word: str = "nothing") -> str:
    """Say a word."""
    context.check_stop()
    return f"echo: {word}"


@tool(toolset="small", preview=lambda _: "")
def refuse(context: ToolContext) -> str:
    """Never do it."""
    raise ToolProblem("Do something else instead.")


def small_tool(name: str, work: Callable[[], str]) -> Tool:
    return Tool(
        name=name,
        description="A tool of the test.",
        parameters={"type": "object", "properties": {}},
        toolset="small",
        function=lambda _context: work(),
        preview=lambda _: name,
    )


class ImpatientStop(StopSignal):
    """Notes how long it was asked to wait, and does not."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        return self.is_set()


class Link:
    """A run that keeps nothing; notes when it was asked to, and says what it is told to say."""

    run_id = "run_1"

    def __init__(self, log: list[tuple[str, Any]] | None = None) -> None:
        self.log = [] if log is None else log
        self.said: list[Steer] = []
        self.is_closed = False
        self.fails_after: int | None = None
        self.barriers = 0

    def barrier(self) -> None:
        self.barriers += 1
        if self.fails_after is not None and self.barriers > self.fails_after:
            raise Fenced("Another process has taken this run over.")
        self.log.append(("barrier", None))

    def take_steers(self) -> list[Steer]:
        said, self.said = self.said, []
        return said

    def end_steering(self) -> list[Steer]:
        self.is_closed = not self.said
        return self.take_steers()


Line = Reply | Exception | Callable[[], Reply]


class Stage:
    """Runs turns with a script: a reply, an error to raise, or a function, per model call."""

    def __init__(
        self,
        script: Iterable[Line],
        workspace: Path,
        *,
        tools: Iterable[Tool] = (echo, refuse),
        fallbacks: Iterable[str] = (),
        record: Callable[[Message], None] = lambda _message: None,
        max_iterations: int = 10,
        parameters: TurnParameters | None = None,
        is_watched: bool = False,
        approvals: ApprovalSettings | None = None,
        link: RunLink | None = None,
    ) -> None:
        self.log: list[tuple[str, Any]] = []
        self.sent: list[dict[str, Any]] = []
        self.stop = ImpatientStop()
        self.is_interrupted = threading.Event()
        self.usage = Usage()
        self._script = iter(script)
        self._registry = Registry(tools)
        self._context = ToolContext(
            workspace=Workspace(workspace), stop=self.stop.event, report=lambda _line: None
        )
        names = ("first", *fallbacks)
        self.health = Health()
        self._chain = Chain(
            [ProviderSettings(provider="custom", model=name) for name in names],
            self.health,
            self._adopt,
        )
        self._model = "first"
        self._record = record
        self._max_iterations = max_iterations
        self._parameters = parameters or TurnParameters()
        self._is_watched = is_watched
        self._link = link
        self._approver = approver_for(
            approvals, self._registry, self._context.workspace, self._parameters
        )

    def play(
        self, user_message: Content | None = "Hi.", history: Iterable[Message] = ()
    ) -> TurnResult:
        return converse(self.seams(), user_message, list(history))

    def interrupt(self, reason: str | None = None) -> None:
        self.is_interrupted.set()
        self.stop.set(reason)

    @property
    def asked(self) -> list[dict[str, Any]]:
        """What the model was sent, without the marks around what tools returned."""
        return [{**sent, "messages": [*map(_unmarked, sent["messages"])]} for sent in self.sent]

    @property
    def events(self) -> list[Event]:
        return [value for kind, value in self.log if kind == "event"]

    @property
    def recorded(self) -> list[Message]:
        return [value for kind, value in self.log if kind == "recorded"]

    def seams(self) -> AgentSeams:
        return AgentSeams(
            ask=self._ask,
            dialect=lambda: dialect_for("chat_completions"),
            model=lambda: self._model,
            system_prompt=lambda: "Be brief.",
            reasoning_effort=None,
            registry=self._registry,
            run_tool=self._run_tool,
            emit=lambda event: self.log.append(("event", event)),
            record=self._recorded,
            count=self._count,
            stop=lambda: self.stop,
            is_interrupted=self.is_interrupted.is_set,
            chain=self._chain,
            max_iterations=self._max_iterations,
            parameters=self._parameters,
            approver=lambda: self._approver,
            link=self._link,
            is_watched=lambda: self._is_watched,
        )

    def _ask(self, api_kwargs: dict[str, Any]) -> Reply:
        self.sent.append(api_kwargs)
        self.log.append(("asked", api_kwargs["model"]))
        line = next(self._script)
        if isinstance(line, Exception):
            raise line
        return line if isinstance(line, Reply) else line()

    def _run_tool(self, call: ToolCall) -> str:
        self.log.append(("ran", call.name))
        return self._registry.run(call.name, call.arguments, self._context)

    def _recorded(self, message: Message, _used: Usage) -> None:
        self._record(message)
        self.log.append(("recorded", message))

    def _count(self, usage: Usage) -> None:
        self.usage += usage

    def _adopt(self, provider: ProviderSettings) -> None:
        self._model = provider.model


def _unmarked(message: Message) -> Message:
    is_result = message["role"] == "tool" and isinstance(message["content"], str)
    return {**message, "content": unmark(message["content"])} if is_result else message
