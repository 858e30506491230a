"""Jobs are remembered for a while, and never too many of them."""

from __future__ import annotations

from hermes.backends.bridge.claude import Errand
from hermes.backends.bridge.records import Job, JobStatus, OutputTail, Records

ERRAND = Errand(model="haiku", prompt="hi", max_budget_usd=1, timeout_seconds=1)


def job(name: str, finished_at: float | None = None) -> Job:
    status = JobStatus.RUNNING if finished_at is None else JobStatus.COMPLETED
    return Job(
        id=name,
        errand=ERRAND,
        metadata=None,
        status=status,
        created_at=0.0,
        finished_at=finished_at,
    )


def kept(records: Records, *names: str) -> list[str]:
    return [name for name in names if records.get(name, 60)]


def test_a_finished_job_is_forgotten_after_its_time() -> None:
    now = [100.0]
    records = Records(clock=lambda: now[0])
    records.add(job("old", 100.0), 60)
    records.add(job("running"), 60)
    now[0] = 159.0
    assert kept(records, "old", "running") == ["old", "running"]
    now[0] = 161.0
    assert kept(records, "old", "running") == ["running"]


def test_of_too_many_the_oldest_finished_go_first_and_running_ones_never() -> None:
    records = Records(max_records=3, clock=lambda: 100.0)
    for each in (job("running"), job("late", 99.0), job("early", 98.0), job("new", 99.5)):
        records.add(each, 60)
    assert kept(records, "running", "late", "early", "new") == ["running", "late", "new"]


def test_of_much_output_the_end_is_kept() -> None:
    tail = OutputTail(limit=10)
    for line in (b"first", b"second", b"third"):
        tail.add(line)
    assert tail.lines == ["third"]
    tail.add(b"x" * 30 + b"\xff")
    assert tail.lines == ["x" * 9 + "\N{REPLACEMENT CHARACTER}"]
