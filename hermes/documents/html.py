"""The readable text of a web page. Runs in a process of its own: see `hermes.documents.apart`."""

from __future__ import annotations

import importlib
import importlib.util
import json
import resource
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from hermes.documents.charsets import decoded
from hermes.documents.plain_text import shortened

_MEMORY = 1024 * 1024 * 1024
_MOST_LINKS = 100
_LONGEST_TITLE = 300
_NEEDS_SCRIPTS = "it has no text of its own: its content is made by scripts, which are not run here"


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlText:
    """What could be read, or why nothing could."""

    title: str = ""
    text: str = ""
    """Markdown, with links; cut where it is longer than was asked for."""
    problem: str | None = None


def can_read_html() -> bool:
    """Whether the extractor is installed; it is not imported."""
    return importlib.util.find_spec("trafilatura") is not None


def with_head(data: bytes, *, url: str, charset: str | None) -> bytes:
    """What `main` expects on its standard input."""
    return json.dumps({"url": url, "charset": charset}).encode() + b"\n" + data


def read_html(data: bytes, *, url: str, charset: str | None, most_characters: int) -> HtmlText:
    """Never raises for what is in the page: a broken one has a `problem`."""
    # Both take a third of a second to load, which only those pay who read a page.
    trafilatura = importlib.import_module("trafilatura")
    text = decoded(data, charset) if charset else None
    try:
        found = _read(trafilatura, data if text is None else text.encode(), url)
    except MemoryError:
        return HtmlText(problem="it needs too much memory")
    except Exception:  # noqa: BLE001 - the extractor raises whatever a malformed page leads it to
        return HtmlText(problem="it is damaged, or no web page")
    return HtmlText(
        title=found.title, text=shortened(found.text, most_characters), problem=found.problem
    )


def _read(trafilatura: Any, data: bytes, url: str) -> HtmlText:
    tree = trafilatura.load_html(data)
    if tree is None:
        return HtmlText(problem="it is empty, or no web page")
    title = " ".join((tree.findtext(".//title") or "").split())[:_LONGEST_TITLE]
    links = list(islice(_links(tree, url), _MOST_LINKS))
    main = trafilatura.extract(
        data,
        url=url,
        output_format="markdown",
        include_links=True,
        include_formatting=True,
        include_tables=True,
        favor_recall=True,
    )
    # Without a main part, as on a page of links, all of it is the text.
    text = main or trafilatura.html2txt(data)
    if not text and not links:
        return HtmlText(title=title, problem=_NEEDS_SCRIPTS)
    if links and "](" not in text:
        text = "\n".join([text, "", "Links on the page:", *links]).lstrip()
    return HtmlText(title=title, text=text)


def _links(tree: Any, url: str) -> Iterator[str]:
    """The links of a page, each once, as lines."""
    tree.make_links_absolute(url, handle_failures="ignore")
    seen = set()
    for link in tree.iter("a"):
        target, words = link.get("href") or "", " ".join(link.text_content().split())
        if words and target not in seen and target.startswith(("http://", "https://")):
            seen.add(target)
            yield f"- [{words[:200]}]({target})"


def main() -> None:
    """A line of JSON and a page on standard input, its text as JSON on standard output."""
    with suppress(ValueError, OSError):  # some systems do not know this limit
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    head = json.loads(sys.stdin.buffer.readline())
    found = read_html(sys.stdin.buffer.read(), **head, most_characters=int(sys.argv[1]))
    json.dump(asdict(found), sys.stdout)


if __name__ == "__main__":
    main()
