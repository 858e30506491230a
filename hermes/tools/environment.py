"""What a command sees of the server's environment: little, and never a secret."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

ALLOWED = (
    "PATH", "LANG", "LANGUAGE", "LC_*", "TERM", "COLORTERM", "NO_COLOR", "TZ", "TMPDIR",
    "USER", "LOGNAME", "SHELL", "HOSTNAME",
)  # fmt: skip

_SECRET = re.compile(
    r"KEY|TOKEN|SECRET|PASS|_PWD|CREDENTIAL|COOKIE|PRIVATE|AUTH(?!OR)|DSN|DATABASE_URL",
    re.IGNORECASE,
)


def looks_secret(name: str) -> bool:
    """True for names that usually hold secrets; some harmless ones are hit too."""
    return _SECRET.search(name) is not None


def child_environment(
    source: Mapping[str, str], *, home: Path, extra: Collection[str] = ()
) -> dict[str, str]:
    """The environment for a command: allowed names of `source` and a `HOME` of its own.

    `extra` are further names or patterns (`CI_*`). A name that looks like a secret never gets
    through, whoever allows it.
    """
    allowed = (*ALLOWED, *extra)
    kept = {
        name: value
        for name, value in source.items()
        if any(fnmatchcase(name, pattern) for pattern in allowed) and not looks_secret(name)
    }
    return {"PATH": os.defpath} | kept | {"HOME": str(home)}
