"""The tools of a process by toolset: the built-in ones, and those that come and go with servers."""

from __future__ import annotations

import functools
from collections.abc import Callable

from hermes.tools.base import Tool
from hermes.tools.registry import Registry
from hermes.tools.services import Services

_builtin = functools.cache(Registry.builtin)
"""Made once: schemas are computed from signatures."""


_Chosen = dict[tuple[str, ...] | None, Registry]


def no_others() -> tuple[Tool, ...]:
    return ()


class Toolbox:
    """Safe to use from any thread. Asking again for the same toolsets costs a look-up."""

    def __init__(
        self,
        services: Services | None = None,
        others: Callable[[], tuple[Tool, ...]] = no_others,
    ) -> None:
        """`others` returns the very same tuple for as long as nothing has changed."""
        self.services = services or Services()
        self._others = others
        self._made: tuple[tuple[Tool, ...], Registry, _Chosen] = ((), _builtin(), {})

    def whole(self) -> Registry:
        """Every tool, also those that cannot be used here."""
        return self._now()[0]

    def of(self, toolsets: tuple[str, ...] | None) -> Registry:
        """The tools of these toolsets that can be used; None: of all toolsets."""
        whole, made = self._now()
        if toolsets not in made:
            made[toolsets] = whole.select(toolsets).usable(self.services)
        return made[toolsets]

    def _now(self) -> tuple[Registry, _Chosen]:
        others = self._others()
        seen, whole, chosen = self._made
        if seen is not others:
            whole, chosen = Registry((*_builtin().tools(), *others)), {}
            self._made = (others, whole, chosen)
        return whole, chosen
