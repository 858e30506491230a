"""Every setting is described in docs/configuration.md."""

from __future__ import annotations

import re

from hermes.settings.documented import DOCUMENTED
from tests.house.sources import document


def test_every_setting_is_in_the_configuration_page() -> None:
    named = set(re.findall(r"`([^`\n]+)`", document("configuration.md")))
    wanted = {name for doc in DOCUMENTED for name in (doc.config_key, doc.env) if name}

    assert sorted(wanted - named) == [], "describe each in docs/configuration.md, in backticks"
