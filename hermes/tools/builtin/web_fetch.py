"""The `web_fetch` tool: a page of the web as text."""

from __future__ import annotations

from typing import Annotated

from hermes.core.errors import Interrupted, NotFetched
from hermes.core.web import Page
from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.foreign import as_data
from hermes.tools.output import one_line
from hermes.tools.schema import Between
from hermes.tools.services import Services

_MANY = 1_000_000_000
_NO_READER = "Nothing is there to fetch web pages with."


def _missing(services: Services) -> str | None:
    return services.page_reader.missing() if services.page_reader else _NO_READER


@tool(
    toolset="web",
    preview=lambda arguments: str(arguments.get("url", "")),
    is_parallel=True,
    missing=_missing,
)
def web_fetch(
    context: ToolContext,
    url: Annotated[str, "The full URL, with https:// or http://."],
    offset: Annotated[int, "First character of the text to return.", Between(0, _MANY)] = 0,
    limit: Annotated[int, "How many characters to return.", Between(100, 40_000)] = 20_000,
) -> str:
    """Fetch a web page and return its text: HTML as Markdown with links, PDF, JSON or plain text.

    Only the public web is reached; no scripts are run and nobody is logged in.
    """
    page = _read(context, url.strip())
    if offset and offset >= len(page.text):
        raise ToolProblem(
            f"The text of {page.url} has only {len(page.text):,} characters; "
            f"offset={offset} is past its end."
        )
    return "\n".join(
        [
            f"URL: {page.url}",
            f"Title: {one_line(page.title, 300) or '(none)'}",
            f"Type: {page.media_type or 'not said'}, {page.size:,} bytes",
            _extent(page, offset, limit),
            as_data(page.text[offset : offset + limit], "the page"),
        ]
    )


def _read(context: ToolContext, url: str) -> Page:
    reader = context.services.page_reader
    if reader is None:
        raise ToolProblem(_NO_READER)
    try:
        return reader.read(url, context.stop.is_set)
    except NotFetched as error:
        raise ToolProblem(str(error)) from error
    except Interrupted:
        context.check_stop()
        raise


def _extent(page: Page, offset: int, limit: int) -> str:
    whole, end = len(page.text), min(offset + limit, len(page.text))
    if end == whole and not offset:
        return f"Text: all {whole:,} characters"
    more = f"; read on with offset={end}" if end < whole else ", the end"
    return f"Text: characters {offset:,} to {end:,} of {whole:,}{more}"
