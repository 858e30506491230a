"""Whole streams of one turn in every dialect: `python -m tests.golden.transcripts` writes them.

They are read by people: a change of the wire shows as a difference in these files.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hermes.core.events import (
    Event,
    ReasoningDelta,
    SegmentEnd,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.wire.chat import ChatHead
from hermes.wire.chat_stream import ChatEncoder
from hermes.wire.responses import ResponseHead
from hermes.wire.responses_stream import ResponsesEncoder
from hermes.wire.tool_forms import AUDIENCES, Dialect, ReasoningView

FOLDER = Path(__file__).resolve().parent
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
DIALECTS: Mapping[str, Dialect] = {
    **{name: Dialect(forms=forms) for name, forms in AUDIENCES.items()},
    "show-reasoning": Dialect(reasoning=ReasoningView.SHOWN),
}


def transcripts() -> dict[str, str]:
    """Every stream by the name of its file."""
    return {
        f"{api}-{name}.sse": write(dialect).decode()
        for api, write in (("chat", _chat), ("responses", _responses))
        for name, dialect in DIALECTS.items()
    }


def _label(name: str, arguments: Mapping[str, Any]) -> str:
    return str(arguments.get("path", name))


def _chat(dialect: Dialect) -> bytes:
    head = ChatHead("chatcmpl-1", "hermes-agent", 1_700_000_000)
    encoder = ChatEncoder(head, include_usage=True, preview=_label, dialect=dialect)
    return encoder.opening() + b"".join(encoder.encode(event) for event in TURN)


def _responses(dialect: Dialect) -> bytes:
    head = ResponseHead(id="resp_1", created_at=1_700_000_000, model="hermes-agent")
    encoder = ResponsesEncoder(head, preview=_label, dialect=dialect)
    frames = (encoder.encode(event, 1_700_000_001.0) for event in TURN)
    return b"".join([*encoder.opening(), *frames])


if __name__ == "__main__":
    for name, transcript in transcripts().items():
        (FOLDER / name).write_text(transcript)
