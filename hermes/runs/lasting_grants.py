"""What was approved for good, by key, for turns that ask no store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hermes.core.approvals import ApprovalRequest, Decision, Grant


class LastingGrants:
    """Loaded at the start and kept up to date; the store has the same. On the event loop only."""

    def __init__(self) -> None:
        self._by_owner: dict[str, tuple[Grant, ...]] = {}

    def load(self, found: Mapping[str, tuple[Grant, ...]]) -> None:
        self._by_owner = dict(found)

    def of(self, owner: str) -> tuple[Grant, ...]:
        return self._by_owner.get(owner, ())

    def remember(self, owner: str, requests: Sequence[ApprovalRequest], decision: Decision) -> None:
        if decision is Decision.ALWAYS:
            more = tuple(Grant(each.tool, each.shown) for each in requests)
            self._by_owner[owner] = (*self.of(owner), *more)
