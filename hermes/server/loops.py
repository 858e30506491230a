"""What a gateway process runs on: its event loop, and a garbage collector that stays calm."""

from __future__ import annotations

import asyncio
import gc
import importlib.util


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop where it can be had, asyncio's own elsewhere."""
    if importlib.util.find_spec("uvloop") is None:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = importlib.import_module("uvloop").new_event_loop()
    return loop


def spare_the_collector() -> None:
    """Keep everything that is loaded by now out of the collector's sight, and call it less often.

    A request makes few cycles and many objects; looking through all modules again and again was
    a tenth of the CPU time of a busy gateway.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
