"""The event loop a gateway runs on: uvloop where it can be had, asyncio's own elsewhere."""

from __future__ import annotations

import asyncio
import importlib.util


def new_event_loop() -> asyncio.AbstractEventLoop:
    if importlib.util.find_spec("uvloop") is None:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = importlib.import_module("uvloop").new_event_loop()
    return loop
