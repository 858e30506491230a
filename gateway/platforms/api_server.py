"""Door: the HTTP adapter of the gateway, under the names the contract knows it by.

One-line methods, re-exports, constants and the record of seams. The flows are in `hermes.server`.
"""

from __future__ import annotations

import asyncio as asyncio
import importlib.util
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aiohttp import web as web

import hermes_state
import run_agent
from gateway import run as gateway_run
from gateway import status
from gateway.config import Platform, PlatformConfig
from gateway.platforms.base import SendResult
from hermes.agent.clients import ServerClients
from hermes.contract.configuration import agent_keywords, alias_of, owner_of, shown_model_name
from hermes.contract.equipping import Workshop
from hermes.contract.opening import Opener, close_all, close_in_order
from hermes.contract.running import AgentTurn, Pair, run_turn
from hermes.contract.streams import turn_view
from hermes.contract.tools import toolset_list
from hermes.core.ids import derive_chat_session_id as _derive_chat_session_id
from hermes.core.messages import Content, Message, user
from hermes.core.turn import TurnParameters, TurnResult
from hermes.documents.extraction import Documents
from hermes.fetching.images import fetch_image
from hermes.fetching.rules import rules_from
from hermes.providers.clients import HttpClients
from hermes.runs.engine import Runs
from hermes.runs.limits import Gate
from hermes.runs.threads import Threads
from hermes.runs.turns import AgentRef, RunningTurns
from hermes.server import about, chat, responses, session_chat, sessions, stored_responses
from hermes.server.application import build_application
from hermes.server.auth import caller_of, check_key, requires_key, session_key
from hermes.server.chat_stream import write_chat
from hermes.server.deeds import settle_deeds
from hermes.server.dialects import read_dialect
from hermes.server.dispatch import dispatch, dispatch_public, refusal_of, value_or_refusal
from hermes.server.idempotency import IdempotencyCache as _IdempotencyCache
from hermes.server.middleware import CORS_HEADERS as _CORS_HEADERS
from hermes.server.middleware import (
    add_security_headers,
    apply_cors,
    cors_headers,
    is_origin_allowed,
)
from hermes.server.recovery import recover
from hermes.server.response_stream import write_responses
from hermes.server.routes import ENDPOINTS
from hermes.server.run_keeping import keep_runs
from hermes.server.seams import ChatStream, NewRecord, ResponseStream, Seams
from hermes.settings.api_server import listener_from
from hermes.settings.model import RunSettings, Settings
from hermes.settings.named_keys import limit_per_owner, toolsets_of
from hermes.settings.paths import files_folder, home, state_db
from hermes.settings.toolsets import narrowed
from hermes.store.chats import ChatStore
from hermes.store.process_runs import ProcessRunStore
from hermes.store.responses import ResponseStore
from hermes.store.uploads import UploadStore
from hermes.tools.skills import skill_list
from hermes.wire.chat import ChatHead
from hermes.wire.responses import ResponseHead
from hermes.wire.tool_forms import CONTRACT_DIALECT, Dialect
from hermes_cli import profiles, tools_config

__all__ = [
    "AIOHTTP_AVAILABLE",
    "CHAT_COMPLETIONS_SSE_KEEPALIVE_SECONDS",
    "_CORS_HEADERS",
    "APIServerAdapter",
    "ResponseStore",
    "_IdempotencyCache",
    "_derive_chat_session_id",
    "check_api_server_requirements",
    "cors_middleware",
    "security_headers_middleware",
]

AIOHTTP_AVAILABLE = importlib.util.find_spec("aiohttp") is not None

CHAT_COMPLETIONS_SSE_KEEPALIVE_SECONDS = 30.0
"""The longest silence on any stream; the setting `server.keepalive_seconds` may shorten it."""

STORAGE_THREADS = 8


def check_api_server_requirements() -> bool:
    return AIOHTTP_AVAILABLE


@web.middleware
async def cors_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Needs the adapter on the application, as `app["api_server_adapter"]`."""
    return await apply_cors(request, handler, request.app["api_server_adapter"].seams)


@web.middleware
async def security_headers_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    return await add_security_headers(request, handler)


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class APIServerAdapter:
    """Serves agents over OpenAI's wire. Made without an event loop; used on one."""

    platform = Platform.API_SERVER

    def __init__(self, config: PlatformConfig) -> None:
        self.listener = listener_from(config.extra, os.environ)
        self._host = self.listener.host
        self._port = self.listener.port
        self._api_key = self.listener.key
        self._cors_origins = self.listener.cors_origins
        self._model_name = self._resolve_model_name(self.listener.model_name)
        self._response_store = ResponseStore(db_path=config.extra.get("response_db"))
        self._chat_store = ChatStore(db_path=config.extra.get("chat_db"))
        self._session_db: Any = None
        self._uploads: UploadStore | None = None
        self._documents = Documents()
        self._workshop = Workshop(self._current_settings, lambda: self._ensure_session_db())
        self._opener = Opener()
        self._http = ServerClients()
        self._agent_threads = Threads("agent", config.extra.get("agent_threads", 1000))
        self._storage = Threads("storage", STORAGE_THREADS)
        self.running = RunningTurns()
        self._run_settings = config.extra.get("runs", RunSettings())
        self._gate = Gate(
            self._run_settings.max_concurrent,
            limit_per_owner(self.listener.keys, self._run_settings.max_per_key),
        )
        self._run_store = ProcessRunStore(
            config.extra.get("run_db"), retention=self._run_settings.retention
        )
        self._runs = Runs(
            store=self._run_store.registered,
            storage=self._storage,
            run_turn=lambda call, feed, agent_ref: self.seams.run_turn(call, feed, agent_ref),
            settings=self._run_settings,
            gate=self._gate,
            is_closing=lambda: self.running.is_draining,
            accounting=self._workshop.equipment.accounting,
            meter=self._workshop.equipment.meter,
        )
        self.seams = self._fill_seams()

    def application(self) -> web.Application:
        """Everything that is served, ready for a server of the caller's choice."""
        return build_application(self.seams, self.listener)

    async def recover(self) -> int:
        """For the start: runs that a dead process left behind are settled, or go on."""
        await self._storage.run(self._workshop.recover)
        await self._storage.run(self._response_store.settle_unfinished)
        await settle_deeds(self.seams)
        return await recover(self.seams)

    def keep_runs(self) -> None:
        """From time to time: old logs go, and questions that nobody answered are denied."""
        self._runs.keep_forever(keep_runs(self.seams))

    def start_equipment(self) -> None:
        """For the start: what the agents will need and what takes a while is begun."""
        self._workshop.start()

    def listens_at(self, url: str) -> None:
        """For the start: where the processes of CLI agents can reach this gateway."""
        self._workshop.cli.listens_at(url)

    async def close(self) -> None:
        """Give back connections, threads and stores; the adapter is not used afterwards."""
        await close_in_order(self._runs.close, self._workshop.cli.close_jobs, self._http.close)
        await self._storage.run(
            lambda: close_all(
                self._response_store,
                self._chat_store,
                self._run_store,
                self._session_db,
                self._uploads,
                self._workshop,
            )
        )
        close_all(self._agent_threads, self._storage)

    # --- the agent ----------------------------------------------------------------------------

    def _create_agent(
        self,
        *,
        session_id: str | None = None,
        parameters: TurnParameters | None = None,
        clients: Callable[[], HttpClients] | None = None,
        **callbacks_and_scope: Any,
    ) -> Any:
        """An agent for one turn, built from the configuration as it is now.

        Called on the event loop, or in a thread for a turn that is kept: that opens the store.
        """
        return run_agent.AIAgent(
            **agent_keywords(
                runtime=gateway_run._resolve_runtime_agent_kwargs(),
                model=gateway_run._resolve_gateway_model(),
                reasoning_config=gateway_run.GatewayRunner._load_reasoning_config(),
                fallback_model=gateway_run.GatewayRunner._load_fallback_model(),
                toolsets=tools_config._get_platform_tools(
                    gateway_run._load_gateway_config(), self.platform.value
                ),
                of_key=toolsets_of(self.listener.keys, owner_of(parameters)),
                session_id=session_id,
                session_db=self._ensure_session_db()
                if (parameters or TurnParameters()).persist
                else None,
                clients=clients,
                parameters=parameters,
                equipment=self._workshop.equipment,
                alias=alias_of(parameters, lambda: gateway_run._load_model_aliases()),
                **callbacks_and_scope,
            )
        )

    async def _run_agent(
        self,
        *,
        user_message: Content | None,
        conversation_history: Sequence[Message],
        ephemeral_system_prompt: str | None = None,
        session_id: str | None = None,
        agent_ref: AgentRef | None = None,
        gateway_session_key: str | None = None,
        parameters: TurnParameters | None = None,
        **callbacks: Any,
    ) -> Pair:
        """Run one turn off the loop's way; the agent's result and its usage."""
        clients = self._http.here()
        return await AgentTurn(
            create_agent=lambda: self._workshop.cli.agent_or(
                lambda **keywords: self._create_agent(**keywords, clients=lambda: clients),
                self._workshop.equipment,
                lambda: self._ensure_session_db(),
                session_id=session_id,
                ephemeral_system_prompt=ephemeral_system_prompt,
                gateway_session_key=gateway_session_key,
                parameters=parameters,
                **callbacks,
            ),
            # Only a turn that is kept opens the session store.
            creation_blocks=parameters is not None and parameters.persist,
            question={
                "user_message": user_message,
                "conversation_history": conversation_history,
                "task_id": session_id,
            },
            agent_ref=[None] if agent_ref is None else agent_ref,
            threads=self._agent_threads,
            running=self.running,
        ).run()

    def _current_settings(self) -> Settings:
        return gateway_run.settings_source.current()

    def _ensure_session_db(self) -> Any:
        """The session store, opened at first use; None when it cannot be opened. May block."""
        self._session_db = self._opener.opened(
            lambda: self._session_db, lambda: hermes_state.SessionDB(state_db(home(os.environ)))
        )
        return self._session_db

    def _ensure_uploads(self) -> UploadStore | None:
        """The uploaded files, opened at first use; None when they cannot be opened. May block."""
        self._uploads = self._opener.opened(
            lambda: self._uploads,
            lambda: UploadStore(
                files_folder(home(os.environ)), gateway_run.settings_source.current().files
            ),
        )
        return self._uploads

    async def send(self, chat_id: str, content: str, **_: Any) -> SendResult:
        """An HTTP client asks and is answered; nothing can be pushed to it."""
        return SendResult(
            success=False, error="The API server uses HTTP request/response; it cannot send."
        )

    # --- who may ask --------------------------------------------------------------------------

    @staticmethod
    def _resolve_model_name(explicit: str) -> str:
        return shown_model_name(explicit, profiles.get_active_profile_name)

    def _check_auth(self, request: web.Request) -> web.Response | None:
        return refusal_of(lambda: check_key(request.headers, self._api_key, self.listener.keys))

    def _parse_session_key_header(
        self, request: web.Request
    ) -> tuple[str | None, web.Response | None]:
        return value_or_refusal(
            lambda: session_key(request.headers, is_keyed=self.seams.requires_key())
        )

    def _origin_allowed(self, origin: str) -> bool:
        return is_origin_allowed(origin, self._cors_origins)

    def _cors_headers_for_origin(self, origin: str) -> dict[str, str] | None:
        return cors_headers(origin, self._cors_origins)

    # --- streams ------------------------------------------------------------------------------

    async def _write_sse_chat_completion(
        self,
        request: web.Request,
        completion_id: str,
        model: str,
        created: int,
        stream_q: Any,
        agent_task: asyncio.Future[Any],
        agent_ref: AgentRef | None = None,
        *,
        include_usage: bool = False,
        headers: Mapping[str, str] | None = None,
        dialect: Dialect = CONTRACT_DIALECT,
        on_asking: Callable[[TurnResult], Awaitable[None]] | None = None,
    ) -> web.StreamResponse:
        return await write_chat(
            request,
            ChatHead(completion_id, model, created),
            turn_view(stream_q, agent_task, agent_ref),
            include_usage=include_usage,
            headers=headers or {},
            keepalive=self._keepalive(),
            preview=self.seams.tool_preview,
            dialect=dialect,
            on_asking=on_asking,
        )

    async def _write_sse_responses(
        self,
        *,
        request: web.Request,
        response_id: str,
        model: str,
        created_at: int,
        stream_q: Any,
        agent_task: asyncio.Future[Any],
        agent_ref: AgentRef | None,
        conversation_history: Sequence[Message],
        user_message: Content | None,
        instructions: str | None,
        conversation: str | None,
        store: bool,
        session_id: str | None,
        head: ResponseHead | None = None,
        record: NewRecord | None = None,
        headers: Mapping[str, str] | None = None,
        dialect: Dialect = CONTRACT_DIALECT,
        on_asking: Callable[[TurnResult], Awaitable[None]] | None = None,
    ) -> web.StreamResponse:
        return await write_responses(
            request,
            head or ResponseHead(id=response_id, model=model, created_at=created_at),
            turn_view(stream_q, agent_task, agent_ref),
            record
            or NewRecord(
                store=store,
                opening=[user(user_message or "")],
                given_history=conversation_history,
                whole_history=conversation_history,
                instructions=instructions,
                conversation=conversation,
                session_id=session_id,
            ),
            self.seams,
            headers=headers or {},
            keepalive=self._keepalive(),
            dialect=dialect,
            on_asking=on_asking,
        )

    def _keepalive(self) -> float:
        return min(CHAT_COMPLETIONS_SSE_KEEPALIVE_SECONDS, self.listener.keepalive_seconds)

    # --- handlers -----------------------------------------------------------------------------

    async def _handle_health(self, request: web.Request) -> web.StreamResponse:
        return await dispatch_public(about.health, request, self.seams)

    async def _handle_health_detailed(self, request: web.Request) -> web.StreamResponse:
        return await dispatch_public(about.health_detailed, request, self.seams)

    async def _handle_models(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(about.models, request, self.seams)

    async def _handle_capabilities(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(about.capabilities, request, self.seams)

    async def _handle_chat_completions(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(chat.create, request, self.seams)

    async def _handle_responses(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(responses.create, request, self.seams)

    async def _handle_get_response(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(stored_responses.get, request, self.seams)

    async def _handle_delete_response(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(stored_responses.delete, request, self.seams)

    async def _handle_list_sessions(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(sessions.list_sessions, request, self.seams)

    async def _handle_create_session(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(sessions.create_session, request, self.seams)

    async def _handle_get_session(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(sessions.get_session, request, self.seams)

    async def _handle_patch_session(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(sessions.patch_session, request, self.seams)

    async def _handle_delete_session(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(sessions.delete_session, request, self.seams)

    async def _handle_session_messages(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(sessions.list_messages, request, self.seams)

    async def _handle_fork_session(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(sessions.fork_session, request, self.seams)

    async def _handle_session_chat(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(session_chat.chat, request, self.seams)

    async def _handle_session_chat_stream(self, request: web.Request) -> web.StreamResponse:
        return await dispatch(session_chat.chat_stream, request, self.seams)

    # --- seams --------------------------------------------------------------------------------

    def _fill_seams(self) -> Seams:
        toolbox = self._workshop.equipment.toolbox
        return Seams(
            model_name=lambda: self._model_name,
            aliases=lambda: gateway_run._list_models(),
            default_alias=lambda: gateway_run._resolve_default_model(),
            served_model=lambda alias: gateway_run._resolve_served_model(alias),
            listener=self.listener,
            started_at=int(time.time()),
            requires_key=lambda: requires_key(self._api_key, self.listener.keys),
            authorise=lambda request: self._check_auth(request),
            read_caller=lambda request: caller_of(
                request.headers, self._api_key, self.listener.keys
            ),
            read_dialect=lambda request: read_dialect(request.headers, self.listener),
            cors_headers=lambda origin: self._cors_headers_for_origin(origin),
            run_turn=lambda call, feed, agent_ref: run_turn(
                lambda **question: self._run_agent(**question), call, feed, agent_ref
            ),
            admit_turn=self.running.admit,
            write_chat=lambda request, stream: self._write_chat(request, stream),
            write_responses=lambda request, stream: self._write_responses(request, stream),
            keepalive_seconds=lambda: self._keepalive(),
            sessions=lambda: self._ensure_session_db(),
            responses=lambda: self._response_store,
            uploads=lambda: self._ensure_uploads(),
            fetch_image=lambda url: fetch_image(
                url, rules_from(gateway_run.settings_source.current().fetch)
            ),
            extract_text=lambda data, name: self._documents.text_of(
                data, name, gateway_run.settings_source.current().files
            ),
            chats=lambda: self._chat_store,
            compact_after=lambda: (
                gateway_run.settings_source.current().sessions.compact_after_messages
            ),
            summary_model=lambda: gateway_run.settings_source.current().context.summary_model,
            storage=self._storage,
            idempotency=_IdempotencyCache(),
            runtime_status=lambda: status.read_runtime_status(),
            tool_preview=lambda name, arguments: toolbox.whole().preview(name, arguments),
            toolsets=lambda owner: toolset_list(
                toolbox,
                narrowed(
                    tools_config._get_platform_tools(
                        gateway_run._load_gateway_config(), self.platform.value
                    ),
                    toolsets_of(self.listener.keys, owner),
                ),
                self._workshop.mcp.states(),
            ),
            remote_servers=lambda: self._workshop.mcp.states(),
            cli_agents=lambda: self._workshop.cli.states(),
            forget_session=lambda session_id: self._workshop.cli.forget_session(session_id),
            skills=lambda: skill_list(
                toolbox.services.skills,
                Path(gateway_run._resolve_runtime_agent_kwargs()["workspace"]),
            ),
            memories=lambda: toolbox.services.memories,
            endpoints=ENDPOINTS,
            runs=self._runs,
            runs_store=self._run_store.registered,
            run_settings=self._run_settings,
            gate=self._gate,
            accounting=self._workshop.equipment.accounting,
            shadow=lambda: self._workshop.shadow,
            meter=self._workshop.equipment.meter,
            metrics=self._workshop.metrics,
            provider_report=self._workshop.provider_report,
            job_tokens=self._workshop.job_tokens,
        )

    async def _write_chat(self, request: web.Request, stream: ChatStream) -> web.StreamResponse:
        return await self._write_sse_chat_completion(
            request,
            stream.head.id,
            stream.head.model,
            stream.head.created,
            stream.turn.feed,
            stream.turn.task,
            stream.turn.agent_ref,
            include_usage=stream.include_usage,
            headers=stream.headers,
            dialect=stream.dialect,
            on_asking=stream.keep_asking,
        )

    async def _write_responses(
        self, request: web.Request, stream: ResponseStream
    ) -> web.StreamResponse:
        return await self._write_sse_responses(
            request=request,
            response_id=stream.head.id,
            model=stream.head.model,
            created_at=stream.head.created_at,
            stream_q=stream.turn.feed,
            agent_task=stream.turn.task,
            agent_ref=stream.turn.agent_ref,
            conversation_history=stream.record.given_history,
            user_message=stream.user_message,
            instructions=stream.record.instructions,
            conversation=stream.record.conversation,
            store=stream.record.store,
            session_id=stream.record.session_id,
            head=stream.head,
            record=stream.record,
            headers=stream.headers,
            dialect=stream.dialect,
            on_asking=stream.keep_asking,
        )
