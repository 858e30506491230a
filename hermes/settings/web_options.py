"""The options of the web tools: what may be fetched, and which engine searches."""

from __future__ import annotations

from hermes.settings import kinds
from hermes.settings.option import Option

WEB_OPTIONS = (
    Option(
        name="web.allow_http",
        kind=kinds.YES_OR_NO,
        config="web.allow_http",
        default="true",
        sentence="Whether `web_fetch` may fetch pages from http URLs too.",
    ),
    Option(
        name="web.max_bytes",
        kind=kinds.whole_number(1024, 2**30),
        config="web.max_bytes",
        default="10485760",
        sentence="The largest page that is fetched.",
    ),
    Option(
        name="web.timeout_seconds",
        kind=kinds.seconds(0.1, 600),
        config="web.timeout_seconds",
        default="20",
        sentence="How long fetching one page, or one search, may take.",
    ),
    Option(
        name="web.search_backend",
        kind=kinds.one_of("searxng", "brave"),
        config="web.search_backend",
        default="searxng",
        sentence="Who searches for `web_search`.",
    ),
    Option(
        name="web.search_url",
        kind=kinds.URL,
        config="web.search_url",
        env="HERMES_SEARCH_URL",
        sentence="Where the SearXNG server is; its JSON format must be enabled.",
    ),
    Option(
        name="web.search_key",
        kind=kinds.KEY,
        config="web.search_key",
        sentence="The key for Brave Search.",
    ),
    Option(
        name="web.search_key_env",
        kind=kinds.VARIABLE,
        config="web.search_key_env",
        sentence="The variable that holds that key, instead of `web.search_key`.",
    ),
)
