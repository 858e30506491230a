"""The tools of a process by toolset: the built-in ones, and those that come and go with servers."""

from __future__ import annotations

import functools
from collections.abc import Callable

from hermes.tools.base import Tool
from hermes.tools.registry import Registry
from hermes.tools.services import Services

_builtin = functools.cache(Registry.builtin)
"""Made once: schemas are computed from signatures."""


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
        self._made: tuple[tuple[Tool, ...], dict[tuple[str, ...] | None, Registry]] = ((), {})

    def whole(self) -> Registry:
        """Every tool, also those that cannot be used here."""
        others = self._others()
        return _builtin() if not others else Registry((*_builtin().tools(), *others))

    def of(self, toolsets: tuple[str, ...] | None) -> Registry:
        """The tools of these toolsets that can be used; None: of all toolsets."""
        others = self._others()
        if self._made[0] is not others:
            self._made = (others, {})
        made = self._made[1]
        if toolsets not in made:
            made[toolsets] = self.whole().select(toolsets).usable(self.services)
        return made[toolsets]
