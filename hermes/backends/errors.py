"""What can go wrong when a command is run.

CommandFailed           the command could not do its work; the message is safe to show
├── CommandMissing      there is nothing to run under that name
├── TimedOut            it did not finish in time and was ended
└── OutputTooLarge      it printed more than we are willing to hold, and was ended
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
