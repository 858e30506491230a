"""What the gateway says about itself: health, capabilities, skills, toolsets, and this document."""

from __future__ import annotations

from hermes.core.remote_tools import ServerStatus
from hermes.wire.capabilities import PLATFORM
from hermes.wire.schemas.builders import (
    ANYTHING,
    OBJECT,
    boolean,
    constant,
    integer,
    list_of,
    map_of,
    number,
    one_of,
    or_null,
    record,
    ref,
    string,
)
from hermes.wire.schemas.description import Answer, Description, answers_json

AREA = "About the gateway"

_HEALTH = {"status": constant("ok"), "platform": constant(PLATFORM)}

_SERVER_STATUS = one_of(*(status.value for status in ServerStatus))

SCHEMAS = {
    "Health": record(_HEALTH),
    "HealthDetailed": record(
        {
            **_HEALTH,
            "gateway_state": or_null(string()),
            "platforms": OBJECT,
            "active_agents": integer(0),
            "exit_reason": or_null(string()),
            "updated_at": or_null(string()),
            "pid": integer(1),
            "providers": list_of(
                record(
                    {
                        "provider": string(),
                        "model": string(),
                        "key": or_null(string()),
                        "status": one_of("ok", "cooling_down"),
                        "reason": or_null(string()),
                        "seconds_left": number(0),
                    }
                )
            ),
        },
        {
            "mcp_servers": list_of(
                record({"name": string(), "status": _SERVER_STATUS, "tools": integer(0)})
            ),
            "cli_agents": list_of(
                record(
                    {
                        "name": string(),
                        "running": integer(0),
                        "queued": integer(0),
                        "max_running": integer(1),
                    }
                )
            ),
        },
    ),
    "Capabilities": record(
        {
            "object": constant("hermes.api_server.capabilities"),
            "platform": constant(PLATFORM),
            "model": string(shortest=1),
            "models": list_of(string(shortest=1), fewest=1),
            "auth": record({"type": constant("bearer"), "required": boolean()}),
            "runtime": record(
                {
                    "mode": string(),
                    "tool_execution": string(),
                    "split_runtime": boolean(),
                    "description": string(),
                }
            ),
            "features": map_of(ANYTHING),
            "ignored_params": map_of(list_of(string())),
            "endpoints": map_of(record({"method": string(), "path": string()})),
        }
    ),
    "Skill": record(
        {
            "object": constant("skill"),
            "id": string(),
            "name": string(),
            "description": string(),
            "source": one_of("home", "workspace"),
            "available": boolean(),
        },
        {"problem": string()},
    ),
    "Toolset": record(
        {
            "object": constant("toolset"),
            "id": string(),
            "enabled": boolean(),
            "tools": list_of(
                record(
                    {"name": string(), "description": string(), "available": boolean()},
                    {"missing": string()},
                )
            ),
        },
        {"status": _SERVER_STATUS, "problem": string()},
    ),
}

_HEALTHY = Description(
    summary="Whether the gateway answers",
    area=AREA,
    answers=answers_json(ref("Health"), "It does."),
)

DESCRIPTIONS = {
    "health": _HEALTHY,
    "health_alias": _HEALTHY,
    "health_detailed": Description(
        summary="What the gateway is doing",
        area=AREA,
        answers=answers_json(ref("HealthDetailed"), "Its state and the number of turns at work."),
    ),
    "metrics": Description(
        summary="What the gateway has done since it started",
        area=AREA,
        answers={
            200: Answer(
                about="Metrics in Prometheus' text format.", contents={"text/plain": string()}
            )
        },
    ),
    "openapi": Description(
        summary="This document",
        area=AREA,
        answers=answers_json(OBJECT, "An OpenAPI 3.1 document."),
    ),
    "capabilities": Description(
        summary="What clients may do here",
        area=AREA,
        answers=answers_json(ref("Capabilities"), "Features, and every route by name."),
    ),
    "skills": Description(
        summary="The skills in the home and in the workspace",
        area=AREA,
        answers=answers_json(
            record({"object": constant("list"), "data": list_of(ref("Skill"))}), "The skills."
        ),
    ),
    "toolsets": Description(
        summary="The agent's tools by toolset",
        area=AREA,
        answers=answers_json(
            record({"object": constant("list"), "data": list_of(ref("Toolset"))}), "The toolsets."
        ),
    ),
}
