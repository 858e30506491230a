"""What the reader is told about the work a job has left behind. Pure."""

from __future__ import annotations

from hermes.backends.workspaces.reports import WorkspaceReport, WorkStatus


def told_about(report: WorkspaceReport) -> str | None:
    """None: there is nothing to tell."""
    where = f"commit {(report.commit or '')[:12]} on the branch {report.branch}"
    remark = f" Note: {report.detail}." if report.detail else ""
    match report.status:
        case WorkStatus.NOT_KEPT | WorkStatus.IN_PLACE:
            return None
        case WorkStatus.UNCHANGED:
            return f"Note: {report.detail}." if report.detail else None
        case WorkStatus.COMMITTED:
            return f"The changes are {where}.{remark}"
        case WorkStatus.PUSHED:
            return f"The changes are {where}, and were pushed.{remark}"
        case WorkStatus.COMPLETED_UNPUSHED:
            return f"The changes are {where}, but could not be pushed: {report.detail}"
        case WorkStatus.SET_ASIDE:
            return f"The changes could not be committed: {report.detail}"
        case WorkStatus.LOST:
            return f"The changes are lost: {report.detail}"
