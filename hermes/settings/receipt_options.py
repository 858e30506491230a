"""The options of receipts: whether and how much is kept of what files were before a run."""

from __future__ import annotations

from dataclasses import dataclass

from hermes.settings import kinds
from hermes.settings.option import Option


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptSettings:
    """What is kept of the files that tools change, so that a run can be undone."""

    enabled: bool = True
    max_file_bytes: int = 10_000_000
    """A larger file is noted in the receipt, but cannot be restored."""
    max_files: int = 20_000
    """In a larger workspace it is not known what commands change."""
    max_workspace_bytes: int = 200_000_000
    """The same for the files of a workspace together."""
    keep_days: int = 30
    max_bytes: int = 1024 * 1024 * 1024


RECEIPT_OPTIONS = (
    Option(
        name="receipts.enabled",
        kind=kinds.YES_OR_NO,
        config="receipts.enabled",
        default="true",
        sentence="Whether it is kept what files were before a run changed them.",
    ),
    Option(
        name="receipts.max_file_bytes",
        kind=kinds.whole_number(0, 1_000_000_000),
        config="receipts.max_file_bytes",
        default="10000000",
        sentence="A larger file is noted in the receipt, but cannot be restored.",
    ),
    Option(
        name="receipts.max_files",
        kind=kinds.whole_number(0, 1_000_000),
        config="receipts.max_files",
        default="20000",
        sentence="In a workspace with more files it is not known what commands change.",
    ),
    Option(
        name="receipts.max_workspace_bytes",
        kind=kinds.whole_number(0, 2**50),
        config="receipts.max_workspace_bytes",
        default="200000000",
        sentence="The same for a workspace whose files have more bytes together.",
    ),
    Option(
        name="receipts.keep_days",
        kind=kinds.whole_number(1, 36_500),
        config="receipts.keep_days",
        default="30",
        sentence="How long it is kept what files were.",
    ),
    Option(
        name="receipts.max_bytes",
        kind=kinds.whole_number(2**20, 2**50),
        config="receipts.max_bytes",
        default="1073741824",
        sentence="How much all of that may take; beyond it the oldest is deleted.",
    ),
)
