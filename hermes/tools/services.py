"""What tools may use beside the workspace: the process's stores and connections, as ports.

A tool whose service is missing is not offered to the model, and says what is missing when called.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hermes.core.memories import Memories
from hermes.core.past_sessions import PastSessions
from hermes.core.shadow import ChangeRecorder
from hermes.core.todos import TodoLists
from hermes.core.web import PageReader, SearchEngine
from hermes.settings.tool_settings import ToolSettings
from hermes.tools.background import Processes
from hermes.tools.leftovers import Leftovers
from hermes.tools.outputs import Outputs
from hermes.tools.sandbox import Sandbox
from hermes.tools.skills import SkillShelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Made once per process."""

    changes: ChangeRecorder | None = None
    """Keeps what files were before tools changed them; None: nobody does."""
    page_reader: PageReader | None = None
    search_engine: SearchEngine | None = None
    sandbox: Sandbox = field(default_factory=Sandbox)
    """What commands run in."""
    leftovers: Leftovers | None = None
    """Sees to it that no command outlives a killed server."""
    processes: Processes | None = None
    """Looks after commands in the background."""
    python_memory_mb: Callable[[], int] = lambda: ToolSettings().python_memory_mb
    outputs: Outputs | None = None
    """Keeps what was too long for the model."""
    memories: Memories | None = None
    """None: nothing is remembered here."""
    past_sessions: Callable[[], PastSessions | None] | None = None
    """Opens the stored sessions at first use; gives None when they cannot be opened. May block."""
    todos: TodoLists | None = None
    skills: SkillShelf | None = None
