"""Whole streams of one turn in every dialect: `python -m tests.golden.transcripts` writes them.

They are read by people: a change of the wire shows as a difference in these files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hermes.core.approvals import ApprovalRequest
from hermes.core.events import (
    ApprovalRequested,
    Event,
    ReasoningDelta,
    SegmentEnd,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnPaused,
)
from hermes.core.runs import LoggedEvent
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.wire.chat import ChatHead
from hermes.wire.chat_stream import ChatEncoder
from hermes.wire.responses import ResponseHead
from hermes.wire.responses_stream import ResponsesEncoder
from hermes.wire.run_stream import RunEncoder
from hermes.wire.session_stream import SessionEncoder
from hermes.wire.tool_forms import AUDIENCES, CONTRACT_DIALECT, Dialect, ReasoningView

FOLDER = Path(__file__).resolve().parent
REQUEST = ApprovalRequest(
    id="appr_1",
    code="K7Q2M",
    call_id="call_1",
    tool="terminal",
    arguments={"command": "rm -r build"},
    shown="rm -r build",
    reason="deletes files recursively",
    expires_at=1_700_000_900.0,
)
TURN: tuple[Event, ...] = (
    ReasoningDelta("I should look."),
    TextDelta("One moment."),
    SegmentEnd(),
    ToolStarted("call_1", "list_files", {"path": "."}),
    ToolFinished("call_1", "list_files", {"path": "."}, "notes.txt"),
    TextDelta("There is "),
    TextDelta("notes.txt."),
    SegmentEnd(),
    TurnEnded(
        TurnResult(
            text="There is notes.txt.",
            outcome=Outcome.WAITING,
            pending=[
                {
                    "id": "call_2",
                    "type": "function",
                    "function": {"name": "open_window", "arguments": '{"file":"notes.txt"}'},
                }
            ],
            usage=Usage(input_tokens=20, output_tokens=9, total_tokens=29),
        )
    ),
)
ASKING: tuple[Event, ...] = (
    TextDelta("I will clean up."),
    SegmentEnd(),
    ApprovalRequested(REQUEST),
    TurnPaused(
        TurnResult(text="I will clean up.", outcome=Outcome.ASKING, approvals=[REQUEST]),
    ),
)
DIALECTS: Mapping[str, Dialect] = {
    **{name: Dialect(forms=forms) for name, forms in AUDIENCES.items()},
    "show-reasoning": Dialect(reasoning=ReasoningView.SHOWN),
}


def transcripts() -> dict[str, str]:
    """Every stream by the name of its file."""
    told = {
        f"{api}-{name}.sse": write(TURN, dialect)
        for api, write in (("chat", _chat), ("responses", _responses))
        for name, dialect in DIALECTS.items()
    }
    asked = {
        "chat-asking.sse": _chat(ASKING),
        "responses-asking.sse": _responses(ASKING),
        "session-asking.sse": _session(ASKING),
        "run-asking.sse": _run(ASKING),
    }
    return {name: stream.decode() for name, stream in {**told, **asked}.items()}


def _label(name: str, arguments: Mapping[str, Any]) -> str:
    return str(arguments.get("path", name))


def _chat(log: Iterable[Event], dialect: Dialect = CONTRACT_DIALECT) -> bytes:
    head = ChatHead("chatcmpl-1", "hermes-agent", 1_700_000_000)
    encoder = ChatEncoder(head, include_usage=True, preview=_label, dialect=dialect)
    return encoder.opening() + b"".join(encoder.encode(event) for event in log)


def _responses(log: Iterable[Event], dialect: Dialect = CONTRACT_DIALECT) -> bytes:
    head = ResponseHead(id="resp_1", created_at=1_700_000_000, model="hermes-agent")
    encoder = ResponsesEncoder(head, preview=_label, dialect=dialect)
    frames = (encoder.encode(event, 1_700_000_001.0) for event in log)
    return b"".join([*encoder.opening(), *frames])


def _session(log: Iterable[Event]) -> bytes:
    encoder = SessionEncoder(run_id="run_1", session_id="s1", message_id="msg_1", opening=())
    return encoder.opening() + b"".join(encoder.encode(event) for event in log)


def _run(log: Iterable[Event]) -> bytes:
    encoder = RunEncoder("run_1")
    logged = (LoggedEvent(seq, 1_700_000_001.0, event) for seq, event in enumerate(log, start=1))
    return b"".join(map(encoder.encode, logged))


if __name__ == "__main__":
    for name, transcript in transcripts().items():
        (FOLDER / name).write_text(transcript)
