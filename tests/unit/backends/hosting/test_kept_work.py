"""What the reader is told about the work of a job."""

from __future__ import annotations

import pytest

from hermes.backends.hosting.kept_work import told_about
from hermes.backends.workspaces.reports import WorkspaceReport, WorkStatus

BRANCH = {"branch": "agent/job_1", "commit": "0123456789abcdef"}


@pytest.mark.parametrize("status", [WorkStatus.NOT_KEPT, WorkStatus.IN_PLACE, WorkStatus.UNCHANGED])
def test_where_nothing_was_kept_there_is_nothing_to_tell(status: WorkStatus) -> None:
    assert told_about(WorkspaceReport(status=status)) is None


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (WorkStatus.COMMITTED, "The changes are commit 0123456789ab on the branch agent/job_1."),
        (WorkStatus.PUSHED, "on the branch agent/job_1, and were pushed."),
    ],
)
def test_a_branch_is_named_and_what_is_not_on_it(status: WorkStatus, told: str) -> None:
    plain = told_about(WorkspaceReport(status=status, **BRANCH))
    assert plain is not None
    assert plain.endswith(told)
    left_out = WorkspaceReport(status=status, detail="left out: vendored", **BRANCH)
    assert told_about(left_out) == f"{plain} Note: left out: vendored."


@pytest.mark.parametrize(
    "status", [WorkStatus.COMPLETED_UNPUSHED, WorkStatus.SET_ASIDE, WorkStatus.LOST]
)
def test_what_went_wrong_is_told_with_its_reason(status: WorkStatus) -> None:
    told = told_about(WorkspaceReport(status=status, detail="the reason", **BRANCH))
    assert told is not None
    assert told.endswith("the reason")
