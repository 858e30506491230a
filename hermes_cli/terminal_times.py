"""Moments and durations as a person reads them, in local time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def now_here() -> datetime:
    return datetime.now(UTC).astimezone()


def moment_text(seconds: float, now: datetime) -> str:
    """A moment (seconds since 1970), as short as the day of `now` and its time zone allow."""
    then = datetime.fromtimestamp(seconds, now.tzinfo or UTC)
    clock = f"{then:%H:%M}"
    if then.date() == now.date():
        return f"today {clock}"
    if then.date() == (now - timedelta(days=1)).date():
        return f"yesterday {clock}"
    if then.year == now.year:
        return f"{then.day} {then:%b} {clock}"
    return f"{then.day} {then:%b %Y}"


def duration_text(seconds: float) -> str:
    """`0.3 s`, `42 s` or `3 min 5 s`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
