"""The options of CLI agents; what may be said of one is in `hermes.settings.cli_agents`."""

from __future__ import annotations

from hermes.settings import kinds
from hermes.settings.option import Option

CLI_OPTIONS = (
    Option(
        name="cli.agents",
        kind=kinds.SECTION,
        config="cli.agents",
        sentence="CLI agents such as Claude Code that answer as models, each under a name.",
    ),
    Option(
        name="cli.serve",
        kind=kinds.COMMAND,
        sentence="A CLI agent to serve, as a command line: `hermes serve -- claude`.",
    ),
    Option(
        name="cli.default",
        kind=kinds.LINE,
        config="cli.default",
        sentence="The CLI agent that answers requests for no model in particular.",
    ),
    Option(
        name="cli.max_running",
        kind=kinds.whole_number(1, 1000),
        config="cli.max_running",
        default="4",
        sentence="How many processes of CLI agents may be at work.",
    ),
    Option(
        name="cli.max_queued",
        kind=kinds.whole_number(0, 100_000),
        config="cli.max_queued",
        default="32",
        sentence="How many turns may wait for one of them; beyond it they are refused with 429.",
    ),
    Option(
        name="cli.queue_seconds",
        kind=kinds.seconds(1, 86_400),
        config="cli.queue_seconds",
        default="600",
        sentence="How long a turn may wait for one of them.",
    ),
    Option(
        name="cli.park_seconds",
        kind=kinds.seconds(0, 86_400),
        config="cli.park_seconds",
        default="300",
        sentence="How long a process waits for an approval before it is ended; the decision still "
        "holds, for another one.",
    ),
)
