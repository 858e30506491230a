"""How a request wants its run treated: what a disconnect means, and what a busy session means.

The same words in a header and in a body. Which policy holds without them is a setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hermes.core.errors import InvalidRequest
from hermes.core.runs import LONGEST_GRACE, Disconnect, WhenBusy
from hermes.wire.lenient import shown, wrong_type

DISCONNECT_HEADER = "X-Hermes-Disconnect"
WHEN_BUSY_HEADER = "X-Hermes-When-Busy"
RUN_ID_HEADER = "X-Hermes-Run-Id"
"""Of an answer: the run behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPolicies:
    """What a request says about its run. None: as configured."""

    disconnect: Disconnect | None = None
    when_busy: WhenBusy | None = None


AS_CONFIGURED = RunPolicies()


def read_policies(headers: Mapping[str, str]) -> RunPolicies:
    disconnect = headers.get(DISCONNECT_HEADER)
    when_busy = headers.get(WHEN_BUSY_HEADER)
    if not disconnect and not when_busy:
        return AS_CONFIGURED  # as nearly always
    return RunPolicies(
        disconnect=parse_disconnect(disconnect, param=DISCONNECT_HEADER) if disconnect else None,
        when_busy=parse_when_busy(when_busy, param=WHEN_BUSY_HEADER) if when_busy else None,
    )


def parse_disconnect(value: Any, *, param: str) -> Disconnect:
    try:
        return Disconnect.parse(_word(value, param))
    except ValueError:
        raise InvalidRequest(
            f"'{param}' must be cancel, detach or grace:<seconds> with up to "
            f"{LONGEST_GRACE:.0f} seconds, not {shown(value)}.",
            param=param,
            code="invalid_value",
        ) from None


def parse_when_busy(value: Any, *, param: str) -> WhenBusy:
    try:
        return WhenBusy(_word(value, param).strip().lower())
    except ValueError:
        allowed = ", ".join(policy.value for policy in WhenBusy)
        raise InvalidRequest(
            f"'{param}' must be one of {allowed}, not {shown(value)}.",
            param=param,
            code="invalid_value",
        ) from None


def _word(value: Any, param: str) -> str:
    if not isinstance(value, str):
        raise wrong_type(param, "a string", value)
    return value
