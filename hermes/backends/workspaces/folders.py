"""Where work goes that could not be committed. Blocking."""

from __future__ import annotations

import shutil
from pathlib import Path

from hermes.private_files import create_folders


def set_aside(folder: Path, kept: Path, name: str) -> Path:
    """Move it to a place of its own below `kept`, where nobody clears it away."""
    create_folders(kept)
    taken = {path.name for path in kept.iterdir()}
    numbered = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    free = next(wanted for wanted in (name, *numbered) if wanted not in taken)
    return Path(shutil.move(folder, kept / free))
