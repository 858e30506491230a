"""The web for the tools of a process: pages are fetched, then read; searches go to one engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hermes.core.errors import Interrupted
from hermes.core.web import IsStopped, Page, SearchResult
from hermes.documents.html import can_read_html
from hermes.documents.web_pages import PageBytes, text_of_page
from hermes.fetching.pages import download
from hermes.fetching.rules import page_rules
from hermes.fetching.searching import missing_for_search, search
from hermes.fetching.standing import wait_for
from hermes.settings.model import Settings

_READ_AT_ONCE = 4
_LOOK_EVERY = 0.1


class WebReader:
    """Reads only a few pages at a time, because each has its own process."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self._settings = settings
        self._free = threading.BoundedSemaphore(_READ_AT_ONCE)

    def missing(self) -> str | None:
        if can_read_html():
            return None
        return "What reads web pages is not installed: pip install 'hermes-gateway[web]'."

    def read(self, url: str, is_stopped: IsStopped) -> Page:
        settings = self._settings()
        rules = page_rules(settings.fetch, settings.web)
        found = wait_for(download(url, rules), is_stopped)
        page = PageBytes(url=found.url, kind=found.kind, charset=found.charset, data=found.data)
        with self._a_free_place(is_stopped):
            text = wait_for(text_of_page(page, settings.files), is_stopped)
        return Page(
            url=found.url,
            title=text.title,
            media_type=found.media_type,
            size=len(found.data),
            text=text.text,
        )

    @contextmanager
    def _a_free_place(self, is_stopped: IsStopped) -> Iterator[None]:
        while not self._free.acquire(timeout=_LOOK_EVERY):
            if is_stopped():
                raise Interrupted("The turn was stopped.")
        try:
            yield
        finally:
            self._free.release()


class ConfiguredSearch:
    """The engine that the settings name at the time."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        self._settings = settings

    def missing(self) -> str | None:
        return missing_for_search(self._settings().web)

    def search(self, query: str, most: int, is_stopped: IsStopped) -> tuple[SearchResult, ...]:
        return wait_for(search(query, most, self._settings().web), is_stopped)
