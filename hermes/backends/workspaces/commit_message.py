"""What is written beside the work of a job. Pure."""

from __future__ import annotations

import unicodedata

from hermes.backends.workspaces.workspace import WorkDone

AUTHOR_NAME = "Hermes Gateway"
AUTHOR_EMAIL = "hermes-gateway@users.noreply.invalid"

SUBJECT_LIMIT = 72


def commit_message(work: WorkDone) -> str:
    """The first words of the answer, and who did it at which cost as trailers."""
    subject = _shortened(_line(work.summary)) or f"Work of {_line(work.model)}"
    known = {name: _line(value) for name, value in _trailers(work).items()}
    trailers = [f"{name}: {value}" for name, value in known.items() if value]
    return "\n".join([subject, "", *trailers, ""])


def _trailers(work: WorkDone) -> dict[str, str]:
    cost = work.usage.cost_usd
    return {
        "Hermes-Run": work.run_id or "",
        "Hermes-Job": work.job_id,
        "Hermes-Model": work.model,
        "Hermes-Tokens": str(work.usage.total_tokens),
        "Hermes-Cost-USD": "" if cost is None else f"{cost:.6f}",
    }


def _line(text: str) -> str:
    """A single line, of letters and other things one can see: words of a model are foreign."""
    seen = (" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in text)
    return " ".join("".join(seen).split())


def _shortened(line: str) -> str:
    if len(line) <= SUBJECT_LIMIT:
        return line
    words = line[:SUBJECT_LIMIT].rpartition(" ")[0]
    return (words or line[: SUBJECT_LIMIT - 1]) + "…"
