"""The `web_search` tool: what a search engine finds."""

from __future__ import annotations

from typing import Annotated

from hermes.core.errors import Interrupted, NotFetched
from hermes.core.web import SearchResult
from hermes.tools.base import ToolContext, ToolProblem, tool
from hermes.tools.foreign import as_data
from hermes.tools.output import one_line
from hermes.tools.schema import Between
from hermes.tools.services import Services

_LONGEST_QUERY = 400
_LONGEST_SNIPPET = 500
_NO_ENGINE = "Nothing is there to search the web with."


def _missing(services: Services) -> str | None:
    return services.search_engine.missing() if services.search_engine else _NO_ENGINE


@tool(
    toolset="web",
    preview=lambda arguments: str(arguments.get("query", "")),
    is_parallel=True,
    missing=_missing,
)
def web_search(
    context: ToolContext,
    query: Annotated[str, "What to search for, in a few words."],
    max_results: Annotated[int, "How many results to return.", Between(1, 20)] = 8,
) -> str:
    """Search the web. Answers title, URL and a few words of each result.

    Read what looks right with web_fetch: the few words may be cut or old.
    """
    words = " ".join(query.split())
    if not words:
        raise ToolProblem("query is empty; say what to search for.")
    if len(words) > _LONGEST_QUERY:
        raise ToolProblem(f"query is longer than {_LONGEST_QUERY} characters; use a few words.")
    results = _search(context, words, max_results)
    if not results:
        return "Nothing was found. Use fewer or other words."
    listed = "\n\n".join(_entry(number, each) for number, each in enumerate(results, start=1))
    return as_data(listed, "the search engine")


def _search(context: ToolContext, query: str, most: int) -> tuple[SearchResult, ...]:
    engine = context.services.search_engine
    if engine is None:
        raise ToolProblem(_NO_ENGINE)
    try:
        return engine.search(query, most, context.stop.is_set)
    except NotFetched as error:
        raise ToolProblem(str(error)) from error
    except Interrupted:
        context.check_stop()
        raise


def _entry(number: int, result: SearchResult) -> str:
    title = one_line(result.title, 200) or "(no title)"
    snippet = one_line(result.snippet, _LONGEST_SNIPPET)
    return "\n".join(filter(None, (f"{number}. {title}", one_line(result.url, 2000), snippet)))
