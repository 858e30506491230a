"""Which agents may run on the event loop in a fiber instead of in a thread of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter

from hermes.settings.model import ProviderSettings


class Cooperative:
    """An agent that knows whether it only ever blocks in ways a fiber can step aside from."""

    def can_share_the_loop(self) -> bool:
        return False


class OwnMethods:
    """The methods of a class as they were written: a stranger's code may block anywhere."""

    def __init__(self, kind: type, names: Sequence[str]) -> None:
        self._names = frozenset(names)
        # Asked for every turn, so without a loop of our own.
        self._of = attrgetter(*names)
        self._own = self._of(kind)

    def are_unaltered_on(self, agent: object) -> bool:
        """Whether nobody replaced any of them, neither on the object nor on its class."""
        return self._names.isdisjoint(vars(agent)) and self._of(type(agent)) == self._own


def none_blocks(providers: Iterable[ProviderSettings]) -> bool:
    """Our own client waits on the loop; the SDKs and the demo model block their thread."""
    return all(
        provider.transport == "http" and provider.provider != "demo" for provider in providers
    )
