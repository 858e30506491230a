"""Pages become text: HTML without its frame, PDFs, plain text; hostile ones harm nobody."""

from __future__ import annotations

import pytest

from hermes.core.errors import NotFetched
from hermes.core.web import PageKind
from hermes.documents.apart import read_html_apart
from hermes.documents.charsets import decoded
from hermes.documents.html import HtmlText, read_html
from hermes.documents.web_pages import PageBytes, PageText, text_of_page
from hermes.settings.model import FileSettings
from tests.unit.documents.pdfs import pdf

URL = "https://pages.example/docs/intro"
LIMITS = FileSettings(max_characters=2000)
LONG = "This sentence is here because a page needs some text before it counts as an article. " * 3
ARTICLE = f"""<!DOCTYPE html><html><head><title>The
 &quot;guide&quot;</title><script>var secret = 1;</script></head><body>
<nav><a href="/home">Home</a></nav><article><h1>Install</h1><p>{LONG}
See <a href="../more?x=1">more</a>.</p><pre><code>pip install it
run it</code></pre><ul><li>first</li><li>second</li></ul></article>
<footer>Cookies!</footer></body></html>"""


async def text_of(data: bytes | str, kind: PageKind, charset: str | None = None) -> PageText:
    raw = data.encode() if isinstance(data, str) else data
    return await text_of_page(PageBytes(url=URL, kind=kind, charset=charset, data=raw), LIMITS)


async def problem_of(data: bytes | str, kind: PageKind) -> str:
    with pytest.raises(NotFetched) as caught:
        await text_of(data, kind)
    return str(caught.value)


async def test_an_article_is_markdown_with_absolute_links_and_without_its_frame() -> None:
    found = await text_of(ARTICLE, PageKind.HTML, "utf-8")

    assert found.title == 'The "guide"'
    assert "# Install" in found.text
    assert "[more](https://pages.example/more?x=1)" in found.text
    assert "pip install it\nrun it" in found.text
    assert "- first\n- second" in found.text
    assert "secret" not in found.text
    assert "Cookies!" not in found.text


async def test_html_is_known_by_its_bytes_where_the_server_says_nothing() -> None:
    assert (await text_of(ARTICLE, PageKind.UNSAID)).title == 'The "guide"'


def test_a_page_of_links_keeps_where_they_lead() -> None:
    page = '<ul><li><a href="/a">First</a><li><a href="/a">Again</a><li><a href="#x"></a></ul>'
    found = read_html(page.encode(), url=URL, charset=None, most_characters=1000)

    assert found.text.endswith("Links on the page:\n- [First](https://pages.example/a)")


@pytest.mark.parametrize(
    ("charset", "meta"), [("iso-8859-1", ""), (None, "<meta charset='iso-8859-1'>")]
)
def test_the_character_set_is_the_servers_or_the_pages(charset: str | None, meta: str) -> None:
    page = f"<html><head>{meta}<title>Café</title></head><body><p>{LONG}Café</p></body></html>"
    data = page.encode("iso-8859-1")
    found = read_html(data, url=URL, charset=charset, most_characters=1000)

    assert found.title == "Café"
    assert found.text.endswith("Café")


def test_text_that_is_too_long_is_cut_and_says_so() -> None:
    page = f"<html><body><p>{LONG * 20}</p></body></html>".encode()
    found = read_html(page, url=URL, charset=None, most_characters=100)

    assert found.text[100:].startswith("\n[Cut here: ")


async def test_a_page_made_by_scripts_is_explained() -> None:
    shell = "<html><head><title>App</title></head><body><div id=app></div></body></html>"

    assert "page 'App' cannot be read: it has no text of its own" in await problem_of(
        shell, PageKind.HTML
    )


@pytest.mark.parametrize("data", [b"", b"\x00\x01\x02", b"<" * 5000, b"<div>" * 20_000])
async def test_what_is_no_page_is_a_problem_and_no_crash(data: bytes) -> None:
    found = await read_html_apart(data, url=URL, charset=None, most_characters=100)

    assert isinstance(found, HtmlText)
    assert found.problem is None or "unexpected" not in found.problem


async def test_a_page_that_takes_too_long_is_given_up() -> None:
    found = await read_html_apart(
        b"<p>x</p>", url=URL, charset=None, most_characters=100, seconds=0.001
    )

    assert found.problem == "reading it takes too long"


async def test_a_pdf_is_known_by_its_bytes_whatever_it_is_called() -> None:
    for kind in (PageKind.PDF, PageKind.UNSAID, PageKind.TEXT):
        assert (await text_of(pdf("One", "Two"), kind)).text == "[Page 1]\nOne\n\n[Page 2]\nTwo"


async def test_a_broken_pdf_is_explained() -> None:
    said = await problem_of(b"%PDF-1.4 nonsense", PageKind.PDF)

    assert said == "The PDF cannot be read: it is damaged. Use another source."


@pytest.mark.parametrize(
    ("data", "charset", "text"),
    [
        (b'{"a": 1}', None, '{"a": 1}'),
        ("Grüße".encode("utf-16"), None, "Grüße"),
        ("Grüße".encode("cp1250"), "windows-1250", "Grüße"),
        ("Grüße".encode(), "no-such-charset", "Grüße"),
        ("Grüße".encode(), "punycode", "Grüße"),
    ],
)
async def test_text_is_given_as_it_is(data: bytes, charset: str | None, text: str) -> None:
    assert (await text_of(data, PageKind.TEXT, charset)).text == text


async def test_bytes_that_are_no_text_are_refused_with_their_size() -> None:
    assert "leads to 300 bytes that are no text" in await problem_of(bytes(300), PageKind.TEXT)
    assert "no text" in await problem_of(bytes(300), PageKind.UNSAID)


@pytest.mark.parametrize("name", ["idna", "punycode", "hex", "rot13", "unicode_escape", "\0", "x"])
def test_codecs_that_are_no_character_sets_are_not_used(name: str) -> None:
    assert decoded(b"text", name) is None
