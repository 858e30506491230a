"""What can go wrong when a command is run.

CommandFailed           the command could not do its work; the message is safe to show
├── CommandMissing      there is nothing to run under that name
├── TimedOut            it did not finish in time and was ended
└── OutputTooLarge      it printed more than we are willing to hold, and was ended

NotAdmitted             there is no room for another job now; `retry_after` says when to ask again
├── QueueFull           all places are taken, those to wait in too
└── QueueTimeout        it waited for as long as one may
"""

from __future__ import annotations

from hermes.core.errors import HermesError


class CommandFailed(HermesError):
    """The command could not do its work."""


class CommandMissing(CommandFailed):
    """There is nothing to run under that name."""


class TimedOut(CommandFailed):
    """The command did not finish in time; its process group has been ended."""


class OutputTooLarge(CommandFailed):
    """The command printed more than we are willing to hold; its process group has been ended."""


class NotAdmitted(HermesError):
    """There is no room for another job now."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds after which it may be worth asking again."""


class QueueFull(NotAdmitted):
    """All places are taken, those to wait in too."""


class QueueTimeout(NotAdmitted):
    """It waited for as long as one may."""
