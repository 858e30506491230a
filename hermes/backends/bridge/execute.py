"""The bridge's job wire: what `POST /execute` takes, what `GET /jobs/{id}` tells. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hermes.backends.bridge.body import amount_of, invalid, model_of, read_object
from hermes.backends.bridge.chat import usage_fields
from hermes.backends.bridge.claude import Errand
from hermes.backends.bridge.prompt import as_argument
from hermes.backends.bridge.records import Job
from hermes.backends.bridge.settings import BridgeSettings

MAX_METADATA_BYTES = 16 * 1024
PROMPT_SHOWN = 4000

_AGENT = re.compile(r"[A-Za-z0-9][\w.:-]{0,99}", re.ASCII)
"""It stands where a flag could."""


@dataclass(frozen=True, slots=True)
class ExecuteRequest:
    """A job to be done, and what its owner wants to find beside it."""

    errand: Errand
    metadata: Mapping[str, Any] | None


def parse_execute(body: bytes, settings: BridgeSettings) -> ExecuteRequest:
    """Raises `InvalidRequest`."""
    fields = read_object(body, wants="prompt")
    errand = Errand(
        model=model_of(fields),
        prompt=_prompt(fields.get("prompt")),
        agent=_agent(fields.get("agent")),
        max_budget_usd=amount_of(
            fields,
            "max_budget_usd",
            most=settings.max_budget_usd,
            variable="BRIDGE_MAX_BUDGET_USD",
        ),
        timeout_seconds=amount_of(
            fields,
            "timeout_seconds",
            most=settings.execute_timeout_seconds,
            variable="EXECUTE_TIMEOUT_SECONDS",
        ),
    )
    return ExecuteRequest(errand, _metadata(fields.get("metadata")))


def _prompt(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise invalid("prompt must be a text that says what to do", param="prompt")
    return as_argument(value)


def _agent(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and _AGENT.fullmatch(value):
        return value
    detail = "agent must be the name of one of the CLI's agents: letters, digits and any of _.:-"
    raise invalid(detail, param="agent")


def _metadata(value: Any) -> Mapping[str, Any] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise invalid("metadata must be an object", param="metadata")
    if len(json.dumps(value)) > MAX_METADATA_BYTES:
        raise invalid(f"metadata can have {MAX_METADATA_BYTES} bytes at most", param="metadata")
    return value


def accepted(job: Job) -> dict[str, Any]:
    return {"job_id": job.id, "status": job.status.value}


def job_fields(job: Job, redact: Callable[[str], str]) -> dict[str, Any]:
    """All that is known of a job; `redact` goes over whatever the CLI printed."""
    return {
        "job_id": job.id,
        "status": job.status.value,
        "prompt": _shortened(job.errand.prompt),
        "agent": job.errand.agent,
        "model": job.errand.model,
        "metadata": job.metadata,
        "created_at": _moment(job.created_at),
        "started_at": _moment(job.started_at),
        "finished_at": _moment(job.finished_at),
        "output": [redact(line) for line in job.output.lines],
        "error": job.error,
        **_outcome(job, redact),
    }


def _outcome(job: Job, redact: Callable[[str], str]) -> dict[str, Any]:
    outcome = job.outcome
    if outcome is None:
        return {}
    return {
        "result": redact(outcome.ending.text),
        "exit_code": outcome.exit.code,
        "stderr": redact(outcome.exit.stderr),
        "usage": usage_fields(outcome.ending.usage),
        "cost_usd": outcome.ending.usage.cost_usd,
        "session_id": outcome.ending.session_id,
        "git_sync": outcome.sync.status.value if outcome.sync else None,
    }


def _shortened(prompt: str) -> str:
    return prompt if len(prompt) <= PROMPT_SHOWN else prompt[:PROMPT_SHOWN] + "…"


def _moment(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
