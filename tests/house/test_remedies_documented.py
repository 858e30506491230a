"""The table of docs/providers.md is the table by which the agent acts."""

from __future__ import annotations

import re

from hermes.agent.remedies import NOTICES, TREATMENTS
from tests.house.sources import document

ROW = re.compile(r"^\| `(\w+)` \|[^|\n]+\|([^|\n]*)\|([^|\n]*)\|([^|\n]*)\|$", re.MULTILINE)


def test_the_documented_remedies_are_the_real_ones() -> None:
    documented = {
        kind: tuple(cell.strip() for cell in cells)
        for kind, *cells in ROW.findall(document("providers.md"))
    }
    assert documented == {
        kind.value: (
            ", ".join(remedy.value for remedy in treatment.remedies),
            f"{treatment.retries}" if treatment.retries else "",
            f"{treatment.cool_down:g} s" if treatment.cool_down else "",
        )
        for kind, treatment in TREATMENTS.items()
    }


def test_every_notice_about_a_provider_is_documented() -> None:
    page = document("providers.md")
    for code in (*NOTICES.values(), "provider_recovered"):
        assert f"| `{code}` |" in page, f"say in docs/providers.md when {code} is told"
