"""What tools may use beside the workspace: the process's stores and connections, as ports.

A tool whose service is missing is not offered to the model, and says what is missing when called.
"""

from __future__ import annotations

from dataclasses import dataclass

from hermes.core.shadow import ChangeRecorder
from hermes.core.web import PageReader, SearchEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Made once per process."""

    changes: ChangeRecorder | None = None
    """Keeps what files were before tools changed them; None: nobody does."""
    page_reader: PageReader | None = None
    search_engine: SearchEngine | None = None
