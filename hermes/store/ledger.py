"""The ledger of one process: counts in memory at once, and writes down what it counted soon.

What was counted in the last moments before a process is killed is lost; nothing else is.
"""

from __future__ import annotations

import functools
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from hermes.core.errors import HermesError
from hermes.core.ledger import NOTHING_SPENT, Account, DaySpent, Spent, today
from hermes.store.spending import AMOUNTS, OwnersDay, SpendingStore

log = logging.getLogger(__name__)

K = TypeVar("K", bound=Hashable)

WRITE_EVERY = 0.5
"""Seconds that something may wait to be written."""
TRY_AGAIN = 5.0
"""The same, after writing failed."""
IDLE_SECONDS = 10.0
"""After this long without work the writing thread ends; the next work starts another."""
TRUSTED_SECONDS = 10.0
"""How old a total may be: another process may use the same home."""
MOST_TOTALS = 4096

_UNUSABLE = (HermesError, sqlite3.Error, OSError)
"""What a file on a disk may come to."""


class ProcessLedger:
    """See `Ledger`. Nothing is opened before something is counted or asked for."""

    def __init__(self, path: Callable[[], Path | None]) -> None:
        self._path = path
        self._store: SpendingStore | None = None
        self._totals: dict[Account, tuple[Spent, float]] = {}
        self._days: dict[OwnersDay, Tally] = {}
        self._sessions: dict[str, Tally] = {}
        self._counting = threading.Lock()
        self._in_store = threading.Lock()
        """Held while the store is used: what is read and what still waits belong together."""
        self._work = threading.Event()
        self._closing = threading.Event()
        self._writer: threading.Thread | None = None

    def add(self, spent: Spent, *, owner: str, session_id: str | None) -> None:
        day = _day(int(time.time() // 86_400))
        with self._counting:
            _tally(self._days, (owner, day)).add(spent)
            if session_id is not None:
                _tally(self._sessions, session_id).add(spent)
            if self._totals:
                self._add_to_totals(spent, owner, day, session_id)
            if self._writer is None and not self._closing.is_set():
                self._writer = threading.Thread(target=self._write_on, name="ledger", daemon=True)
                self._writer.start()
        if not self._work.is_set():
            self._work.set()

    def known(self, account: Account) -> Spent | None:
        found = self._totals.get(account)
        if found is None or time.monotonic() - found[1] > TRUSTED_SECONDS:
            return None
        return found[0]

    def read(self, account: Account) -> Spent:
        """Of a store that cannot be read, only what this process has counted is known."""
        known = self.known(account)
        if known is not None:
            return known
        with self._in_store:
            stored = self._stored(account)
            with self._counting:
                total = stored + self._waiting(account)
                if len(self._totals) >= MOST_TOTALS:
                    self._totals.clear()
                self._totals[account] = (total, time.monotonic())
        return total

    def days(self, owner: str, *, most: int) -> list[DaySpent]:
        self.write()
        try:
            with self._in_store:
                return self._opened().days(owner, most=most)
        except _UNUSABLE:
            log.exception("what was used on earlier days cannot be read")
            return []

    def write(self) -> bool:
        """Write down what waits; False when that failed, and it waits on. May block."""
        with self._in_store:
            with self._counting:
                days, self._days = self._days, {}
                sessions, self._sessions = self._sessions, {}
            if not days and not sessions:
                return True
            try:
                self._opened().add(_as_spent(days), _as_spent(sessions))
            except _UNUSABLE:
                log.exception("what was used is not written down yet")
                self._put_back(days, sessions)
                return False
        return True

    def close(self) -> None:
        """Write down what waits, and close. What is counted afterwards is not kept."""
        self._closing.set()
        self._work.set()
        writer = self._writer
        if writer is not None:
            writer.join()
        self.write()
        with self._in_store:
            if self._store is not None:
                self._store.close()

    # --- totals -------------------------------------------------------------------------------

    def _add_to_totals(self, spent: Spent, owner: str, day: str, session_id: str | None) -> None:
        accounts = [Account(owner=owner), Account(day=day), Account(owner=owner, day=day)]
        if session_id is not None:
            accounts.append(Account(session_id=session_id))
        for account in accounts:
            found = self._totals.get(account)
            if found is not None:
                self._totals[account] = (found[0] + spent, found[1])

    def _stored(self, account: Account) -> Spent:
        try:
            return self._opened().total(account)
        except _UNUSABLE:
            log.exception("what was used before cannot be read; budgets count from now on")
            return self._totals.get(account, (NOTHING_SPENT, 0.0))[0]

    def _waiting(self, account: Account) -> Spent:
        total = Tally()
        if account.session_id is not None:
            total.add(self._sessions.get(account.session_id, NOTHING_SPENT))
        for (owner, day), tally in self._days.items():
            fits = account.owner in (None, owner) and account.day in (None, day)
            if account.session_id is None and fits:
                total.add(tally)
        return total.spent

    # --- writing ------------------------------------------------------------------------------

    def _opened(self) -> SpendingStore:
        if self._store is None:
            self._store = SpendingStore(self._path())
        return self._store

    def _write_on(self) -> None:
        while not self._closing.is_set():
            if not self._work.wait(IDLE_SECONDS) and self._is_over():
                return
            self._closing.wait(WRITE_EVERY)
            self._work.clear()
            if not self.write():
                self._closing.wait(TRY_AGAIN)
                self._work.set()

    def _is_over(self) -> bool:
        """Whether there is nothing to do; then the thread is no longer ours."""
        with self._counting:
            if self._days or self._sessions:
                return False
            self._writer = None
            return True

    def _put_back(self, days: dict[OwnersDay, Tally], sessions: dict[str, Tally]) -> None:
        with self._counting:
            for place, tally in days.items():
                _tally(self._days, place).add(tally)
            for session_id, tally in sessions.items():
                _tally(self._sessions, session_id).add(tally)


class Tally:
    """What waits to be written: the same as `Spent`, but cheap to add to."""

    __slots__ = AMOUNTS

    def __init__(self) -> None:
        self.calls = self.input_tokens = self.output_tokens = self.total_tokens = 0
        self.cached_tokens = self.unpriced_tokens = 0
        self.cost_usd = self.seconds = 0.0

    def add(self, spent: Spent | Tally) -> None:
        self.calls += spent.calls
        self.input_tokens += spent.input_tokens
        self.output_tokens += spent.output_tokens
        self.total_tokens += spent.total_tokens
        self.cached_tokens += spent.cached_tokens
        self.cost_usd += spent.cost_usd
        self.unpriced_tokens += spent.unpriced_tokens
        self.seconds += spent.seconds

    @property
    def spent(self) -> Spent:
        return Spent(**{name: getattr(self, name) for name in AMOUNTS})


def _tally(tallies: dict[K, Tally], key: K) -> Tally:
    found = tallies.get(key)
    if found is None:
        found = tallies[key] = Tally()
    return found


def _as_spent(tallies: Mapping[K, Tally]) -> dict[K, Spent]:
    return {key: tally.spent for key, tally in tallies.items()}


@functools.lru_cache(maxsize=2)
def _day(number: int) -> str:
    """The day so many days after the first of January 1970."""
    return today(datetime.fromtimestamp(number * 86_400, UTC))
