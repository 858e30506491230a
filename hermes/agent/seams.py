"""What an agent's flows may use of the object they work for, as one record of closures.

The door `run_agent.AIAgent` fills it when it is built; every closure looks its target up when it
is called, so that what an embedder replaces on the object is what runs. Tests fill it with fakes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hermes.agent.approving import Approver
from hermes.agent.chain import Chain
from hermes.agent.context import ContextSeams
from hermes.agent.patience import Patience
from hermes.agent.stopping import StopSignal
from hermes.core.events import Emit
from hermes.core.messages import Message
from hermes.core.metrics import UNMETERED, Meter
from hermes.core.run_link import RunLink
from hermes.core.todos import Todo
from hermes.core.turn import TurnParameters, Usage
from hermes.providers.base import Dialect
from hermes.providers.caching import NO_CACHING, Caching
from hermes.providers.failures import Failure
from hermes.providers.reply import Reply, ToolCall
from hermes.runs.allowance import Allowance
from hermes.settings.model import ProviderSettings
from hermes.tools.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSeams:
    """For one call to the model."""

    dialect: Callable[[], Dialect]
    open_client: Callable[[], Any]
    close_client: Callable[[Any], None]
    codex_fallback: Callable[[Mapping[str, Any], Any], Any]
    on_text: Callable[[], Callable[[str], None]]
    """Where text goes; looked up once per stream, because it is called for every token."""
    on_reasoning: Callable[[], Callable[[str], None]]
    touch: Callable[[], Callable[[str], None]]
    """Called with "receiving stream response" for every event: the proof of life of a stream."""
    is_interrupted: Callable[[], bool]
    stop: Callable[[], StopSignal]
    disable_streaming: Callable[[], None]
    """The provider cannot stream; the next call is to be made without."""
    whole_call_failed: Callable[[], None]
    """A call in one piece failed; the next one is to be streamed, where it can be."""
    retries: Callable[[], int]
    reopened: Callable[[Failure], None] = lambda _failure: None
    """A stream broke off before any text and is opened again at once."""
    called: Callable[[str, float, Usage | None], None] = lambda _outcome, _seconds, _usage: None
    """A request is over: how, after how many seconds, and what it used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSeams:
    """For a whole turn."""

    ask: Callable[[dict[str, Any]], Reply]
    dialect: Callable[[], Dialect]
    model: Callable[[], str]
    system_prompt: Callable[[], str]
    reasoning_effort: str | None
    registry: Registry
    run_tool: Callable[[ToolCall], str]
    emit: Emit
    record: Callable[[Message, Usage], None]
    """Keep a message of the turn, and what had been used by then; returns when it is safe."""
    count: Callable[[Usage], None]
    """Called with what a model call used, once it is known what that cost."""
    stop: Callable[[], StopSignal]
    is_interrupted: Callable[[], bool]
    chain: Chain
    """Who is asked, and who is when that one fails."""
    max_iterations: int
    parameters: TurnParameters = field(default_factory=TurnParameters)
    approver: Callable[[], Approver | None] = lambda: None
    """Who clears tool calls; None: every call may be made. Asked only where there are calls."""
    link: RunLink | None = None
    """None: nobody keeps this turn, and nobody can speak to the agent while it works."""
    take_question: Callable[[], str | None] = lambda: None
    """What a tool has to ask the user, once; the turn ends with it."""
    context: ContextSeams | None = None
    """Keeps prompts within the model's window; None: they are sent however long they are."""
    usage_beside: Callable[[], Usage] = Usage
    """What sub-agents have used since it was asked last."""
    patience: Patience = field(default_factory=Patience)
    meter: Meter = UNMETERED
    caching: Callable[[], Caching] = lambda: NO_CACHING
    """What tells the provider that prompts belong together."""
    priced: Callable[[Usage, ProviderSettings | None], Usage] = lambda usage, _seller: usage
    """What a call has used, with its cost where that is known; None: of the provider in use."""
    allowance: Allowance = field(default_factory=Allowance)
    """What this turn and its sub-agents use, and may use."""
    todos: Callable[[], tuple[Todo, ...]] = tuple
    """The list the agent plans with, as it is now."""
    is_watched: Callable[[], bool] = lambda: False
    """Whether somebody reads the answer while it is written: then nothing of it can be unsaid."""
