"""Examines how the agent reaches the web. Asks nobody: a search costs quota."""

from __future__ import annotations

from hermes.fetching.searching import missing_for_search
from hermes.settings.web import WebSettings
from hermes_cli.doctor_finding import Finding, ok


def search(settings: WebSettings) -> Finding:
    """Who searches for `web_search`; nobody is fine too."""
    title = "Web search"
    missing = missing_for_search(settings)
    if missing is not None:
        detail, _, fix = missing.partition(". ")
        return ok(title, f"optional; {detail}", f"if you need it: {fix}")
    match settings.search_backend:
        case "searxng":
            return ok(title, f"SearXNG at {settings.search_url}")
        case "brave":
            return ok(title, "Brave Search, with a key")
