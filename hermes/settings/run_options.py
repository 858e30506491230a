"""The options of runs: their policies and limits, how long they are kept, what must be approved."""

from __future__ import annotations

from hermes.core.runs import WhenBusy
from hermes.settings import kinds
from hermes.settings.option import Option

_POLICIES = (
    Option(
        name="runs.disconnect_chat",
        kind=kinds.DISCONNECT,
        config="runs.disconnect_chat",
        default="cancel",
        sentence="What becomes of a chat completion whose client leaves.",
    ),
    Option(
        name="runs.disconnect_responses",
        kind=kinds.DISCONNECT,
        config="runs.disconnect_responses",
        default="grace:30",
        sentence="The same for a stored response.",
    ),
    Option(
        name="runs.disconnect_sessions",
        kind=kinds.DISCONNECT,
        config="runs.disconnect_sessions",
        default="grace:30",
        sentence="The same for a turn in a session.",
    ),
    Option(
        name="runs.when_busy",
        kind=kinds.member_of(WhenBusy),
        config="runs.when_busy",
        default="queue",
        sentence="What becomes of a request in a session that is at work already.",
    ),
    Option(
        name="runs.recovery",
        kind=kinds.one_of("interrupt", "resume"),
        config="runs.recovery",
        env="HERMES_RECOVERY",
        default="interrupt",
        sentence="What becomes of a run whose process died.",
    ),
    Option(
        name="runs.max_attempts",
        kind=kinds.whole_number(1, 100),
        config="runs.max_attempts",
        default="3",
        sentence="How often a run is taken up, with `resume`, before it is given up.",
    ),
)

_LIMITS = (
    Option(
        name="runs.max_concurrent",
        kind=kinds.whole_number(1, 1_000_000),
        config="runs.max_concurrent",
        default="1000",
        sentence="How many turns may run at once; one more is answered with 429.",
    ),
    Option(
        name="runs.max_per_key",
        kind=kinds.whole_number(0, 1_000_000),
        config="runs.max_per_key",
        default="0",
        sentence="How many of them may belong to one key; 0 sets no limit.",
    ),
    Option(
        name="runs.max_queued",
        kind=kinds.whole_number(0, 1_000_000),
        config="runs.max_queued",
        default="1000",
        sentence="How many runs may wait for their session.",
    ),
    Option(
        name="runs.max_seconds",
        kind=kinds.seconds(0, 604_800),
        config="runs.max_seconds",
        default="0",
        sentence="How long a run may take unless it says so itself; 0 sets no limit.",
    ),
    Option(
        name="runs.stalled_write_seconds",
        kind=kinds.seconds(0.1, 86_400),
        config="runs.stalled_write_seconds",
        default="60",
        sentence="A client that reads nothing for this long is cut off.",
    ),
)

_RETENTION = (
    Option(
        name="runs.keep_deltas_hours",
        kind=kinds.whole_number(1, 87_600),
        config="runs.keep_deltas_hours",
        default="24",
        sentence="How long the single pieces of text of a finished run are kept.",
    ),
    Option(
        name="runs.keep_days",
        kind=kinds.whole_number(1, 36_500),
        config="runs.keep_days",
        default="30",
        sentence="How long a finished run is kept.",
    ),
    Option(
        name="runs.max_bytes",
        kind=kinds.whole_number(2**20, 2**50),
        config="runs.max_bytes",
        default="1073741824",
        sentence="How much all runs may take; beyond it the oldest finished ones are deleted.",
    ),
)

APPROVAL_OPTIONS = (
    Option(
        name="approvals.mode",
        kind=kinds.one_of("ask", "allow", "deny"),
        config="approvals.mode",
        default="ask",
        sentence="What becomes of destructive tool calls that no rule fits.",
    ),
    Option(
        name="approvals.timeout_seconds",
        kind=kinds.seconds(1, 604_800),
        config="approvals.timeout_seconds",
        default="900",
        sentence="A question that nobody answers for this long is answered with no.",
    ),
    Option(
        name="approvals.rules",
        kind=kinds.LIST,
        config="approvals.rules",
        sentence="What is done about certain calls; the first rule that fits decides.",
    ),
)

RUN_OPTIONS = _POLICIES + _LIMITS + _RETENTION
