"""The ledger: counts at once, writes soon, forgets nothing but the last moment before a kill."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.ledger import NOTHING_SPENT, Account, DaySpent, Spent, today
from hermes.store import ledger as ledger_module
from hermes.store.ledger import ProcessLedger
from hermes.store.spending import SpendingStore

ONE = Spent(
    calls=1,
    input_tokens=10,
    output_tokens=5,
    total_tokens=15,
    cached_tokens=4,
    cost_usd=0.25,
    unpriced_tokens=0,
    seconds=0.5,
)


def open_ledger(home: Path) -> ProcessLedger:
    return ProcessLedger(lambda: home / "spending.db")


def test_every_account_knows_at_once_what_was_counted(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path)
    ledger.add(ONE, owner="ann", session_id="s1")
    ledger.add(ONE, owner="bob", session_id=None)
    assert ledger.read(Account(owner="ann")) == ONE
    assert ledger.read(Account(session_id="s1")) == ONE
    assert ledger.read(Account(day=today())) == ONE + ONE
    assert ledger.read(Account(owner="bob", day=today())) == ONE
    assert ledger.read(Account(owner="bob", day="2001-01-01")) == NOTHING_SPENT
    ledger.add(ONE, owner="ann", session_id="s1")
    assert ledger.known(Account(owner="ann")) == ONE + ONE
    assert ledger.known(Account(session_id="s1")) == ONE + ONE
    ledger.close()


def test_the_next_process_knows_it_too(tmp_path: Path) -> None:
    first = open_ledger(tmp_path)
    first.add(ONE, owner="ann", session_id="s1")
    first.close()
    second = open_ledger(tmp_path)
    second.add(ONE, owner="ann", session_id="s1")
    assert second.read(Account(session_id="s1")) == ONE + ONE
    assert second.days("ann", most=10) == [DaySpent(today(), ONE + ONE)]
    second.close()


def test_nobody_else_can_read_the_file(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path)
    ledger.add(ONE, owner="ann", session_id=None)
    ledger.close()
    assert (tmp_path / "spending.db").stat().st_mode & 0o777 == 0o600


def test_nothing_is_opened_before_anything_is_counted(tmp_path: Path) -> None:
    open_ledger(tmp_path).close()
    assert not (tmp_path / "spending.db").exists()


def test_it_writes_by_itself_within_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = threading.Event()
    ledger = open_ledger(tmp_path)
    write = ledger.write
    monkeypatch.setattr(ledger, "write", lambda: (write(), written.set()))
    ledger.add(ONE, owner="ann", session_id=None)
    assert written.wait(5)
    other = SpendingStore(tmp_path / "spending.db")
    assert other.total(Account(owner="ann")) == ONE
    other.close()
    ledger.close()


def test_a_writing_thread_with_nothing_to_do_ends_and_another_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "IDLE_SECONDS", 0.01)
    monkeypatch.setattr(ledger_module, "WRITE_EVERY", 0.01)
    ledger = open_ledger(tmp_path)
    for count in (1, 2):
        ledger.add(ONE, owner="ann", session_id=None)
        thread = next(each for each in threading.enumerate() if each.name == "ledger")
        thread.join(5)
        assert not thread.is_alive()
        store = SpendingStore(tmp_path / "spending.db")
        assert store.total(Account(owner="ann")).calls == count
        store.close()
    ledger.close()


def test_what_another_process_counted_is_seen_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, other = open_ledger(tmp_path), open_ledger(tmp_path)
    assert ledger.read(Account(owner="ann")) == NOTHING_SPENT
    other.add(ONE, owner="ann", session_id=None)
    other.close()
    assert ledger.known(Account(owner="ann")) == NOTHING_SPENT
    monkeypatch.setattr(ledger_module, "TRUSTED_SECONDS", -1.0)
    assert ledger.known(Account(owner="ann")) is None
    assert ledger.read(Account(owner="ann")) == ONE
    ledger.close()


def test_a_file_that_cannot_be_used_stops_nobody_and_loses_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "spending.db"
    place.mkdir()
    ledger = open_ledger(tmp_path)
    ledger.add(ONE, owner="ann", session_id="s1")
    assert ledger.read(Account(owner="ann")) == ONE
    assert not ledger.write()
    assert "not written down yet" in caplog.text
    place.rmdir()
    assert ledger.write()
    ledger.close()
    again = open_ledger(tmp_path)
    assert again.read(Account(session_id="s1")) == ONE
    again.close()


def test_counts_from_many_threads_add_up(tmp_path: Path) -> None:
    ledger = open_ledger(tmp_path)
    ledger.read(Account(owner="ann"))

    def count() -> None:
        for _ in range(200):
            ledger.add(ONE, owner="ann", session_id="s1")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        ledger.write()
    for thread in threads:
        thread.join()
    known = ledger.known(Account(owner="ann"))
    assert known is not None
    assert known.calls == 800
    ledger.write()
    ledger.close()
    again = open_ledger(tmp_path)
    assert again.read(Account(session_id="s1")).calls == 800
    again.close()


amounts = st.builds(
    Spent,
    calls=st.integers(0, 9),
    input_tokens=st.integers(0, 10**6),
    output_tokens=st.integers(0, 10**6),
    total_tokens=st.integers(0, 10**6),
    cached_tokens=st.integers(0, 10**6),
    cost_usd=st.integers(0, 800).map(lambda eighths: eighths / 8),
    unpriced_tokens=st.integers(0, 10**6),
    seconds=st.integers(0, 800).map(lambda eighths: eighths / 8),
)


@given(st.lists(st.tuples(amounts, st.sampled_from("ab"), st.booleans()), max_size=8))
def test_memory_and_file_together_always_have_all_of_it(
    booked: list[tuple[Spent, str, bool]],
) -> None:
    ledger = ProcessLedger(lambda: None)
    for spent, owner, is_written in booked:
        ledger.add(spent, owner=owner, session_id=None)
        if is_written:
            ledger.write()
    for owner in "ab":
        own = [spent for spent, by, _ in booked if by == owner]
        assert ledger.read(Account(owner=owner)) == sum(own, start=NOTHING_SPENT)
    everything = [spent for spent, _, _ in booked]
    assert ledger.read(Account(day=today())) == sum(everything, start=NOTHING_SPENT)
    ledger.close()
