"""Every route of the gateway as data: what is registered, and what /v1/capabilities advertises."""

from __future__ import annotations

from hermes.server import (
    about,
    chat,
    conversations,
    files,
    openapi,
    response_compaction,
    responses,
    run_events,
    runs,
    session_chat,
    session_compaction,
    session_search,
    session_transfer,
    sessions,
    stored_chats,
    stored_responses,
    websocket,
)
from hermes.server.route import Route

_RESPONSE = "/v1/responses/{response_id:(?!(?:compact|input_tokens)$)[^/]+}"
"""Two names below /v1/responses are no responses, so only POST is allowed there."""

ROUTES: tuple[Route, ...] = (
    Route("health", "GET", "/health", about.health, is_public=True),
    Route("health_alias", "GET", "/v1/health", about.health, is_public=True),
    Route("health_detailed", "GET", "/health/detailed", about.health_detailed, is_public=True),
    Route("openapi", "GET", "/openapi.json", openapi.describing(lambda: ROUTES), is_public=True),
    Route("models", "GET", "/v1/models", about.models),
    Route("model", "GET", "/v1/models/{model_id:.+}", about.model),
    Route("capabilities", "GET", "/v1/capabilities", about.capabilities),
    Route("skills", "GET", "/v1/skills", about.skills),
    Route("toolsets", "GET", "/v1/toolsets", about.toolsets),
    Route("chat_completions", "POST", "/v1/chat/completions", chat.create),
    Route("stored_chats", "GET", "/v1/chat/completions", stored_chats.list_chats),
    Route("stored_chat", "GET", "/v1/chat/completions/{completion_id}", stored_chats.get_chat),
    Route(
        "stored_chat_update",
        "POST",
        "/v1/chat/completions/{completion_id}",
        stored_chats.update_chat,
    ),
    Route(
        "stored_chat_delete",
        "DELETE",
        "/v1/chat/completions/{completion_id}",
        stored_chats.delete_chat,
    ),
    Route(
        "stored_chat_messages",
        "GET",
        "/v1/chat/completions/{completion_id}/messages",
        stored_chats.list_messages,
    ),
    Route("responses", "POST", "/v1/responses", responses.create),
    Route("responses_websocket", "GET", "/v1/responses", websocket.converse),
    Route(
        "response_input_tokens",
        "POST",
        "/v1/responses/input_tokens",
        response_compaction.count_input_tokens,
    ),
    Route("response_compact", "POST", "/v1/responses/compact", response_compaction.compact),
    Route("response", "GET", _RESPONSE, stored_responses.get),
    Route("response_delete", "DELETE", _RESPONSE, stored_responses.delete),
    Route(
        "response_input_items",
        "GET",
        "/v1/responses/{response_id}/input_items",
        stored_responses.list_input_items,
    ),
    Route(
        "response_cancel",
        "POST",
        "/v1/responses/{response_id}/cancel",
        stored_responses.cancel,
    ),
    Route("conversation_create", "POST", "/v1/conversations", conversations.create),
    Route("conversation", "GET", "/v1/conversations/{conversation_id}", conversations.get),
    Route(
        "conversation_update", "POST", "/v1/conversations/{conversation_id}", conversations.update
    ),
    Route(
        "conversation_delete",
        "DELETE",
        "/v1/conversations/{conversation_id}",
        conversations.delete,
    ),
    Route(
        "conversation_items",
        "GET",
        "/v1/conversations/{conversation_id}/items",
        conversations.list_items,
    ),
    Route(
        "conversation_items_add",
        "POST",
        "/v1/conversations/{conversation_id}/items",
        conversations.add_items,
    ),
    Route(
        "conversation_item",
        "GET",
        "/v1/conversations/{conversation_id}/items/{item_id}",
        conversations.get_item,
    ),
    Route(
        "conversation_item_delete",
        "DELETE",
        "/v1/conversations/{conversation_id}/items/{item_id}",
        conversations.delete_item,
    ),
    Route("files", "GET", "/v1/files", files.list_files),
    Route("file_create", "POST", "/v1/files", files.create),
    Route("file", "GET", "/v1/files/{file_id}", files.get),
    Route("file_content", "GET", "/v1/files/{file_id}/content", files.content),
    Route("file_delete", "DELETE", "/v1/files/{file_id}", files.delete),
    Route("sessions", "GET", "/api/sessions", sessions.list_sessions),
    Route("session_create", "POST", "/api/sessions", sessions.create_session),
    Route("session_search", "GET", "/api/sessions/search", session_search.search),
    Route("session_import", "POST", "/api/sessions/import", session_transfer.import_session),
    Route("session", "GET", "/api/sessions/{session_id}", sessions.get_session),
    Route("session_patch", "PATCH", "/api/sessions/{session_id}", sessions.patch_session),
    Route("session_delete", "DELETE", "/api/sessions/{session_id}", sessions.delete_session),
    Route("session_messages", "GET", "/api/sessions/{session_id}/messages", sessions.list_messages),
    Route("session_export", "GET", "/api/sessions/{session_id}/export", session_transfer.export),
    Route(
        "session_compact",
        "POST",
        "/api/sessions/{session_id}/compact",
        session_compaction.compact,
    ),
    Route("session_fork", "POST", "/api/sessions/{session_id}/fork", sessions.fork_session),
    Route("session_chat", "POST", "/api/sessions/{session_id}/chat", session_chat.chat),
    Route(
        "session_chat_stream",
        "POST",
        "/api/sessions/{session_id}/chat/stream",
        session_chat.chat_stream,
    ),
    Route(
        "session_chat_rejoin",
        "GET",
        "/api/sessions/{session_id}/chat/stream",
        session_chat.rejoin,
    ),
    Route("runs", "POST", "/v1/runs", runs.create),
    Route("run_list", "GET", "/v1/runs", runs.list_runs),
    Route("run_status", "GET", "/v1/runs/{run_id}", runs.get_run),
    Route("run_events", "GET", "/v1/runs/{run_id}/events", run_events.watch),
    Route("run_stop", "POST", "/v1/runs/{run_id}/stop", runs.stop),
    Route("run_steer", "POST", "/v1/runs/{run_id}/steer", runs.steer),
    Route("run_approval", "POST", "/v1/runs/{run_id}/approval", runs.approve),
)

ENDPOINTS = {route.name: (route.method, route.readable_path) for route in ROUTES}
"""What /v1/capabilities shows: name → method and path."""
