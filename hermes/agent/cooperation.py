"""Which agents may run on the event loop in a fiber instead of in a thread of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hermes.settings.model import ProviderSettings


class Cooperative:
    """An agent that knows whether it only ever blocks in ways a fiber can step aside from."""

    def can_share_the_loop(self) -> bool:
        return False


def is_unaltered(agent: object, own: Mapping[str, Any]) -> bool:
    """Whether nobody replaced any of the methods `own`: a stranger's code may block anywhere."""
    kind, state = type(agent), vars(agent)
    return all(getattr(kind, name) is method and name not in state for name, method in own.items())


def none_blocks(providers: Iterable[ProviderSettings]) -> bool:
    """Our own client waits on the loop; the SDKs and the demo model block their thread."""
    return all(
        provider.transport == "http" and provider.provider != "demo" for provider in providers
    )
