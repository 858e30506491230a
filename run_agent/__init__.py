"""Door: `AIAgent`, the agent as the contract knows it.

State, callbacks, seams and one-line methods. What an agent does is in `hermes.agent`; here are
only the names an embedder may set, read or replace, each looked up again whenever it is used.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from hermes.agent import asking
from hermes.agent.approving import approver_for
from hermes.agent.chain import Chain
from hermes.agent.clients import BackgroundClients, open_client
from hermes.agent.cooperation import Cooperative, OwnMethods, none_blocks
from hermes.agent.delegating import run_errand
from hermes.agent.desk import Desk
from hermes.agent.equipment import BARE, Equipment
from hermes.agent.loop import converse
from hermes.agent.metering import count_call, tell_reopened
from hermes.agent.prompt import said_once, system_prompt
from hermes.agent.recording import Recorder
from hermes.agent.seams import AgentSeams, CallSeams
from hermes.agent.stopping import StopSignal
from hermes.contract.agent_state import (
    adopt_provider,
    asks_for_whole,
    deliver,
    opened_client,
    stream_retries,
)
from hermes.contract.briefing import briefing_of, plan_of, scope_of
from hermes.contract.callbacks import Callback, Callbacks, fire
from hermes.contract.chat_shape import completion_from, reply_from
from hermes.contract.configuration import (
    Fallback,
    fallbacks_from,
    provider_from,
    reasoning_effort,
)
from hermes.contract.contexts import context_seams
from hermes.contract.results import result_to_dict
from hermes.contract.sub_agents import run_id_of, sub_seams
from hermes.core.events import Event, ToolProgress
from hermes.core.messages import Content, Message
from hermes.core.ports import Transcript
from hermes.core.run_link import RunLink
from hermes.core.turn import TurnParameters
from hermes.core.usage import NO_USAGE, Usage
from hermes.providers.base import dialect_for
from hermes.providers.caching import caching_for
from hermes.providers.clients import HttpClients
from hermes.providers.prices import with_cost
from hermes.providers.sdk import SdkClients
from hermes.runs.allowance import Allowance
from hermes.settings.model import ApprovalSettings
from hermes.settings.paths import default_workspace, home
from hermes.tools.base import Scope, ToolContext
from hermes.tools.errand import Errand
from hermes.tools.workspace import Workspace

__all__ = ["AIAgent"]

MAX_ITERATIONS = 50

# Shared by every agent of the process: a folder is checked once, and an agent that is used without
# a server reads its streams on one background loop.
_workspace_at = functools.lru_cache(maxsize=64)(Workspace)
_background = BackgroundClients()
_sdk_clients = SdkClients()


class AIAgent(Cooperative):
    """One agent for one conversation. Cheap to make: no I/O, no connection.

    `run_conversation` blocks and belongs in a thread of its own; `interrupt` may be called from
    any other thread. Callbacks are called while the turn runs, from the thread or event loop that
    reads the model's stream, and must not block.
    """

    def __init__(
        self,
        *,
        model: str = "",
        provider: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        api_keys: Sequence[str] = (),
        key_strategy: str | None = None,
        api_mode: str | None = None,
        transport: str | None = None,
        headers: Mapping[str, str] | None = None,
        stale_seconds: float | None = None,
        reasoning_stale_seconds: float | None = None,
        context_window: int | None = None,
        reasoning_config: Mapping[str, Any] | None = None,
        fallback_model: Fallback = None,
        enabled_toolsets: Collection[str] | None = None,
        max_iterations: int = MAX_ITERATIONS,
        identity: str | None = None,
        ephemeral_system_prompt: str | None = None,
        workspace: Path | None = None,
        confine: bool = True,
        terminal_env: Sequence[str] = (),
        session_id: str | None = None,
        session_db: Transcript | None = None,
        gateway_session_key: str | None = None,
        stream_delta_callback: Callback = None,
        reasoning_callback: Callback = None,
        tool_start_callback: Callback = None,
        tool_progress_callback: Callback = None,
        tool_complete_callback: Callback = None,
        notice_callback: Callback = None,
        event_callback: Callback = None,
        clients: Callable[[], HttpClients] | None = None,
        parameters: TurnParameters | None = None,
        approvals: ApprovalSettings | None = None,
        run_link: RunLink | None = None,
        run_id: str | None = None,
        equipment: Equipment = BARE,
        quiet_mode: bool = True,
        skip_context_files: bool = True,
        skip_memory: bool = True,
    ) -> None:
        """Without `approvals` no tool call needs approval; without a `run_link` nobody keeps what
        happens; without `equipment` there are only tools that need nothing but a workspace.
        Unless they are skipped, the agent is told what AGENTS.md and the skills say, and what it
        remembers. `quiet_mode` is part of the contract's signature: this agent never prints."""
        self._provider = provider_from(
            model,
            {
                "provider": provider,
                "base_url": base_url,
                "api_key": api_key,
                "api_keys": tuple(api_keys),
                "key_strategy": key_strategy,
                "api_mode": api_mode,
                "transport": transport,
                "headers": headers,
                "stale_seconds": stale_seconds,
                "reasoning_stale_seconds": reasoning_stale_seconds,
                "context_window": context_window,
            },
        )
        self._chain = Chain(
            (self._provider, *fallbacks_from(fallback_model)),
            equipment.health,
            lambda provider: adopt_provider(self, provider),
        )
        self.model = model
        self.api_mode = self._provider.api_mode
        self.reasoning_config = reasoning_config
        self.max_iterations = max_iterations
        self.identity = identity
        self.ephemeral_system_prompt = ephemeral_system_prompt
        self.workspace = workspace or default_workspace(home(os.environ))
        self.confine = confine
        self.terminal_env = tuple(terminal_env)
        self.enabled_toolsets = None if enabled_toolsets is None else tuple(enabled_toolsets)
        self.session_id = session_id
        self.gateway_session_key = gateway_session_key
        self.session_usage = NO_USAGE
        self.stream_delta_callback = stream_delta_callback
        self.reasoning_callback = reasoning_callback
        self.tool_start_callback = tool_start_callback
        self.tool_progress_callback = tool_progress_callback
        self.tool_complete_callback = tool_complete_callback
        self.notice_callback = notice_callback
        self.event_callback = event_callback
        self.last_activity = (time.monotonic(), "created")
        self.parameters = parameters or TurnParameters()
        self.approvals = approvals
        self.run_link = run_link
        self.run_id = run_id or run_id_of(run_link)
        self.equipment = equipment
        self.skip_context_files = skip_context_files
        self.skip_memory = skip_memory
        self.is_sub_agent = False
        self._allowance = Allowance()
        self._session_db = session_db
        self._clients = clients or _background.clients
        self._stop = StopSignal()
        self._interrupt_requested = False
        self._disable_streaming = False
        self._whole_call_failed = False
        self._stream_callback: Callback = None
        self._anthropic_client: Any = None
        self._current_streamed_assistant_text = ""
        self._call_seams = self._fill_call_seams()

    # --- what callers use ---------------------------------------------------------------------

    def run_conversation(
        self,
        user_message: Content | None,
        conversation_history: Sequence[Message] | None = None,
        task_id: str | None = None,
    ) -> dict[str, Any]:
        """Run one turn to its end and return what came of it. Never raises for a failed turn."""
        self._allowance = self.equipment.accounting.allowance(self.parameters, self.session_id)
        seams = self._fill_turn_seams(task_id)
        result = converse(seams, user_message, conversation_history or ())
        self._allowance.close()
        return result_to_dict(result, self.session_id)

    def interrupt(self, message: str | None = None) -> None:
        """Stop the running turn: the model call is cut, a running tool's processes are ended."""
        self._interrupt_requested = True
        self._stop.set(message)

    def clear_interrupt(self) -> None:
        """Make an interrupted agent usable for another turn."""
        self._interrupt_requested = False
        self._stop = StopSignal()

    @property
    def session_prompt_tokens(self) -> int:
        return self.session_usage.input_tokens

    @property
    def session_completion_tokens(self) -> int:
        return self.session_usage.output_tokens

    @property
    def session_total_tokens(self) -> int:
        return self.session_usage.total_tokens

    def can_share_the_loop(self) -> bool:
        """Whether a fiber may carry this agent: it talks to providers through our client only."""
        return (
            self._anthropic_client is None
            and none_blocks(self._chain.providers)
            and _OWN_METHODS.are_unaltered_on(self)
        )

    # --- what an embedder may replace ---------------------------------------------------------

    def _create_request_openai_client(self, **_context: Any) -> Any:
        """A client in the openai SDK's shape for one model call."""
        return open_client(
            self._provider, http=self._clients, sdk=_sdk_clients, cancel=self._stop.scope
        )

    def _close_request_openai_client(self, client: Any, **_context: Any) -> None:
        """A client was used for one call. Those made here share connections, which stay open."""

    def _has_stream_consumers(self) -> bool:
        return self.stream_delta_callback is not None or self._stream_callback is not None

    def _fire_stream_delta(self, text: str) -> None:
        deliver(text, self.stream_delta_callback, self._stream_callback)

    def _fire_reasoning_delta(self, text: str) -> None:
        deliver(text, self.reasoning_callback)

    def _touch_activity(self, description: str) -> None:
        self.last_activity = (time.monotonic(), description)

    def _interruptible_streaming_api_call(
        self, api_kwargs: Mapping[str, Any], *, on_first_delta: Callable[[], None] | None = None
    ) -> Any:
        """One streamed model call; the reply in the shape of a chat completion object."""
        return completion_from(asking.stream_reply(self._call_seams, api_kwargs, on_first_delta))

    def _interruptible_api_call(self, api_kwargs: Mapping[str, Any]) -> Any:
        """The same in one piece: cheaper, for when nobody watches or the provider cannot stream."""
        return completion_from(asking.whole_reply(self._call_seams, api_kwargs))

    def _run_codex_stream(self, api_kwargs: Mapping[str, Any], client: Any = None) -> Any:
        """One Responses stream, read to its end; the provider's final response object."""
        return asking.codex_response(self._call_seams, api_kwargs, client)

    def _run_codex_create_stream_fallback(
        self, api_kwargs: Mapping[str, Any], client: Any = None
    ) -> Any:
        """The same through `responses.create(stream=True)`, for servers that break the protocol."""
        return asking.codex_created_response(self._call_seams, api_kwargs, client)

    # --- seams --------------------------------------------------------------------------------

    def _fill_call_seams(self) -> CallSeams:
        return CallSeams(
            dialect=lambda: dialect_for(self.api_mode),
            open_client=lambda: opened_client(
                self.api_mode, self._anthropic_client, self._create_request_openai_client
            ),
            close_client=lambda client: self._close_request_openai_client(client),
            codex_fallback=lambda api_kwargs, client: self._run_codex_create_stream_fallback(
                api_kwargs, client=client
            ),
            on_text=lambda: self._fire_stream_delta,
            on_reasoning=lambda: self._fire_reasoning_delta,
            touch=lambda: self._touch_activity,
            is_interrupted=lambda: self._interrupt_requested or self._stop.is_set(),
            stop=lambda: self._stop,
            disable_streaming=lambda: setattr(self, "_disable_streaming", True),
            whole_call_failed=lambda: setattr(self, "_whole_call_failed", True),
            retries=lambda: stream_retries(os.environ),
            reopened=lambda failure: tell_reopened(
                self._emit, self.equipment.meter, self._provider, failure
            ),
            called=lambda *call: count_call(self.equipment.meter, self._provider, *call),
        )

    def _fill_turn_seams(self, task_id: str | None) -> AgentSeams:
        registry = self.equipment.toolbox.of(
            () if self.parameters.is_plain else self.enabled_toolsets
        )
        scope = scope_of(self)
        desk = Desk(
            registry,
            lambda: self._tool_context(task_id, scope),
            None if self.is_sub_agent else self._run_errand,
            self.equipment.meter,
        )
        return AgentSeams(
            ask=lambda api_kwargs: reply_from(self._api_call()(api_kwargs)),
            dialect=self._call_seams.dialect,
            model=lambda: self.model,
            system_prompt=said_once(lambda: system_prompt(briefing_of(self, registry, scope))),
            todos=plan_of(self, registry, scope).todos,
            reasoning_effort=self.parameters.reasoning_effort
            or reasoning_effort(self.reasoning_config),
            registry=registry,
            run_tool=desk.run,
            emit=self._emit,
            record=Recorder(
                self._session_db,
                self.session_id,
                self.model,
                link=self.run_link,
                emit=self._emit,
                resumption=self.parameters.resumption,
            ).record,
            count=lambda usage: setattr(self, "session_usage", self.session_usage + usage),
            stop=lambda: self._stop,
            is_interrupted=lambda: self._interrupt_requested or self._stop.is_set(),
            chain=self._chain,
            max_iterations=self.max_iterations,
            parameters=self.parameters,
            approver=lambda: approver_for(
                self.approvals, registry, self._workspace(), self.parameters
            ),
            link=self.run_link,
            take_question=desk.take_question,
            context=context_seams(self),
            usage_beside=desk.usage_beside,
            patience=self.equipment.patience,
            meter=self.equipment.meter,
            caching=lambda: caching_for(self._provider, self.parameters.owner, self.session_id),
            priced=lambda usage, seller: with_cost(
                usage, self.equipment.accounting.prices(), seller or self._provider
            ),
            allowance=self._allowance,
            is_watched=lambda: self._has_stream_consumers(),
        )

    def _tool_context(self, task_id: str | None, scope: Scope) -> ToolContext:
        return ToolContext(
            workspace=self._workspace(),
            stop=self._stop.event,
            report=lambda line: self._emit(ToolProgress("tool.output", None, line)),
            task_id=task_id,
            extra_environment=self.terminal_env,
            scope=scope,
            services=self.equipment.toolbox.services,
            emit=self._emit,
        )

    def _workspace(self) -> Workspace:
        return _workspace_at(self.workspace, self.confine)

    def _run_errand(self, errand: Errand, count: Callable[[Usage], None]) -> str:
        return run_errand(errand, lambda *asked: sub_seams(self, *asked), self._emit, count)

    def _api_call(self) -> Callable[[Mapping[str, Any]], Any]:
        return (
            self._interruptible_api_call
            if self._asks_for_whole()
            else self._interruptible_streaming_api_call
        )

    def _asks_for_whole(self) -> bool:
        return asks_for_whole(
            self.api_mode,
            cannot_stream=self._disable_streaming,
            is_watched=self._has_stream_consumers() or self.reasoning_callback is not None,
            whole_call_failed=self._whole_call_failed,
        )

    def _emit(self, event: Event) -> None:
        fire(
            event,
            Callbacks(
                stream_delta_callback=self.stream_delta_callback,
                reasoning_callback=self.reasoning_callback,
                tool_start_callback=self.tool_start_callback,
                tool_progress_callback=self.tool_progress_callback,
                tool_complete_callback=self.tool_complete_callback,
                notice_callback=self.notice_callback,
                event_callback=self.event_callback,
            ),
        )


_OWN_METHODS = OwnMethods(
    AIAgent,
    (
        "run_conversation",
        "_create_request_openai_client",
        "_close_request_openai_client",
        "_interruptible_streaming_api_call",
        "_interruptible_api_call",
        "_run_codex_create_stream_fallback",
    ),
)
"""What could block if somebody replaced it."""
