"""What the gateway says about itself: health, models, capabilities, tools and skills."""

from __future__ import annotations

import os
from typing import Any

from aiohttp import web

from hermes.core.runs import RunStatus, WhenBusy
from hermes.metrics.exposition import CONTENT_TYPE as METRICS_TYPE
from hermes.server.answers import json_answer
from hermes.server.auth import SESSION_ID_HEADER, SESSION_KEY_HEADER
from hermes.server.dialects import REASONING_HEADER, TOOL_FORM_HEADER
from hermes.server.honesty import IGNORED_HEADER, STRICT_HEADER, ignored_by_agent
from hermes.server.idempotency import KEY_HEADER
from hermes.server.routing import MODEL_HEADER, unknown_model
from hermes.server.seams import Seams
from hermes.wire.capabilities import PLATFORM, model_object, models_list
from hermes.wire.capabilities import capabilities as capabilities_object
from hermes.wire.chat_parameters import IGNORED as CHAT_IGNORED
from hermes.wire.response_parameters import IGNORED as RESPONSES_IGNORED
from hermes.wire.run_policies import DISCONNECT_HEADER, RUN_ID_HEADER, WHEN_BUSY_HEADER
from hermes.wire.tool_forms import AUDIENCES

FEATURES = {
    "chat_completions": True,
    "chat_completions_streaming": True,
    "responses_api": True,
    "responses_streaming": True,
    "tool_progress_events": True,
    "tool_forms": list(AUDIENCES),
    "tool_form_header": TOOL_FORM_HEADER,
    "reasoning_header": REASONING_HEADER,
    "session_resources": True,
    "session_chat": True,
    "session_chat_streaming": True,
    "session_fork": True,
    "session_fork_at_message": True,
    "session_search": True,
    "session_export": True,
    "session_import": True,
    "session_compaction": True,
    "session_todos": True,
    "skills_api": True,
    "memories_api": True,
    "files_api": True,
    "session_continuity_header": SESSION_ID_HEADER,
    "session_key_header": SESSION_KEY_HEADER,
    "chat_completions_store": True,
    "client_tools": True,
    "structured_output": True,
    "model_routing": True,
    "model_header": MODEL_HEADER,
    "ignored_params_header": IGNORED_HEADER,
    "strict_params_header": STRICT_HEADER,
    "runs_api": True,
    "run_status": True,
    "run_events_sse": True,
    "run_list": True,
    "run_stop": True,
    "run_steer": True,
    "run_approval": True,
    "mcp_server": True,
    "cli_agents": True,
    "run_id_header": RUN_ID_HEADER,
    "run_statuses": [status.value for status in RunStatus],
    "chat_approvals": True,
    "disconnect_policies": ["cancel", "detach", "grace:<seconds>"],
    "disconnect_header": DISCONNECT_HEADER,
    "when_busy_policies": [policy.value for policy in WhenBusy],
    "when_busy_header": WHEN_BUSY_HEADER,
    "idempotency_header": KEY_HEADER,
    "metrics": True,
    "responses_resume": True,
    "session_chat_resume": True,
    "admin_config_rw": False,
    # The contract's name for writing anybody's memory, which no key may do; see `memories_api`.
    "memory_write_api": False,
    "realtime_voice": False,
}


async def health(_request: web.Request, _seams: Seams) -> web.StreamResponse:
    return json_answer({"status": "ok", "platform": PLATFORM})


async def health_detailed(_request: web.Request, seams: Seams) -> web.StreamResponse:
    runtime = await seams.storage.run(seams.runtime_status) or {}
    return json_answer(
        {
            "status": "ok",
            "platform": PLATFORM,
            "gateway_state": runtime.get("gateway_state"),
            "platforms": runtime.get("platforms") or {},
            "active_agents": runtime.get("active_agents", 0),
            "exit_reason": runtime.get("exit_reason"),
            "updated_at": runtime.get("updated_at"),
            "pid": os.getpid(),
            "providers": await seams.storage.run(seams.provider_report),
            **_remote_servers(seams),
            **_cli_agents(seams),
        }
    )


def _remote_servers(seams: Seams) -> dict[str, Any]:
    """Without their problems: whoever has no key is told no names of files or hosts."""
    listed = [
        {"name": server.name, "status": server.status.value, "tools": server.tools}
        for server in seams.remote_servers()
    ]
    return {"mcp_servers": listed} if listed else {}


def _cli_agents(seams: Seams) -> dict[str, Any]:
    listed = seams.cli_agents()
    return {"cli_agents": listed} if listed else {}


async def metrics(_request: web.Request, seams: Seams) -> web.StreamResponse:
    text = await seams.storage.run(seams.metrics)
    return web.Response(body=text.encode(), headers={"Content-Type": METRICS_TYPE})


async def models(_request: web.Request, seams: Seams) -> web.StreamResponse:
    names = [seams.model_name(), *seams.aliases()]
    return json_answer(models_list(list(dict.fromkeys(names)), seams.started_at))


async def model(request: web.Request, seams: Seams) -> web.StreamResponse:
    asked = request.match_info["model_id"]
    if asked != seams.model_name() and seams.served_model(asked) is None:
        raise unknown_model(asked)
    return json_answer(model_object(asked, seams.started_at))


async def capabilities(_request: web.Request, seams: Seams) -> web.StreamResponse:
    return json_answer(
        capabilities_object(
            model=seams.model_name(),
            auth_required=seams.requires_key(),
            endpoints=seams.endpoints,
            features=FEATURES,
            models=[seams.model_name(), *seams.aliases()],
            ignored_params={
                "chat_completions": ignored_by_agent(seams, CHAT_IGNORED),
                "responses": ignored_by_agent(seams, RESPONSES_IGNORED),
            },
        )
    )


async def skills(_request: web.Request, seams: Seams) -> web.StreamResponse:
    return json_answer({"object": "list", "data": await seams.storage.run(seams.skills)})


async def toolsets(request: web.Request, seams: Seams) -> web.StreamResponse:
    owner = seams.read_caller(request).owner
    return json_answer({"object": "list", "data": seams.toolsets(owner)})
