"""What was too long for the model, kept in the home so that it can be read in parts.

A text lies in the folder of whoever it belongs to, under an id that nobody can guess.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hermes.core.ids import new_id
from hermes.private_files import create_file
from hermes.settings.tool_settings import ToolSettings
from hermes.tools.output import cap

LARGEST = 5_000_000
"""Characters of one output that are kept; of a longer one, its beginning and its end."""

_ID = re.compile(r"out_[0-9a-f]{24}")
_MEGABYTE = 1_000_000
_HOUR = 3600.0


class Outputs:
    """Safe to use from any thread, and from several processes with one home. May block."""

    def __init__(
        self,
        folder: Callable[[], Path],
        settings: Callable[[], ToolSettings],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._clock = clock

    def keep(self, owner: str, text: str) -> str | None:
        """The id under which `owner` can read it; None where nothing is kept."""
        room = self._settings().keep_outputs_mb * _MEGABYTE
        data = cap(text, LARGEST).encode()
        if len(data) > room:
            return None
        self._make_room(room - len(data))
        output_id = new_id("out_")
        create_file(self._place(owner, output_id), data)
        return output_id

    def read(self, owner: str, output_id: str) -> str | None:
        """None when there is no such output, it is somebody else's, or it is gone."""
        if not _ID.fullmatch(output_id):
            return None
        try:
            return self._place(owner, output_id).read_bytes().decode()
        except FileNotFoundError:
            return None

    def _place(self, owner: str, output_id: str) -> Path:
        whose = hashlib.sha256(owner.encode(errors="surrogatepass")).hexdigest()[:32]
        return self._folder() / whose / output_id

    def _make_room(self, room: int) -> None:
        """Delete what is too old, and the oldest beyond `room` bytes."""
        oldest_allowed = self._clock() - self._settings().keep_outputs_hours * _HOUR
        taken = 0
        for written, size, place in sorted(self._kept(), reverse=True):
            taken += size
            if written < oldest_allowed or taken > room:
                place.unlink(missing_ok=True)

    def _kept(self) -> list[tuple[float, int, Path]]:
        kept = []
        for place in self._folder().glob("*/out_*"):
            with suppress(FileNotFoundError):  # another thread may be making room too
                status = place.stat()
                kept.append((status.st_mtime, status.st_size, place))
        return kept
