"""What can go wrong with a call to a server, and what is known about it then.

CallFailed
├── Refused        the server answered that it will not
├── TookTooLong    no answer in time; the server was asked to stop
├── NotSent        the server has not seen the call, so it may be made again
└── Lost           the connection broke; nobody knows what became of the call
"""

from __future__ import annotations


class CallFailed(Exception):
    """The root of the others."""


class Refused(CallFailed):
    """The text says why, in the server's words."""


class TookTooLong(CallFailed):
    """No answer came in time."""


class NotSent(CallFailed):
    """The connection was no good before the call was made."""


class Lost(CallFailed):
    """The connection broke while the call was under way."""
