"""Pages of items as OpenAI lists them: which part is wanted, and how it is answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hermes.core.errors import NotFound
from hermes.core.ports import ItemPage
from hermes.wire.lenient import choice, shown
from hermes.wire.queries import whole_number

Item = dict[str, Any]

MOST_ITEMS = 100
_DEFAULT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemQuery:
    """Which items are wanted."""

    limit: int = _DEFAULT
    after: str | None = None
    newest_first: bool = True


def parse_item_query(query: Mapping[str, str]) -> ItemQuery:
    return ItemQuery(
        limit=whole_number(query, "limit", _DEFAULT, low=1, high=MOST_ITEMS),
        after=query.get("after") or None,
        newest_first=choice(query, "order", ("asc", "desc"), "desc") == "desc",
    )


def page_of(items: Sequence[Item], wanted: ItemQuery) -> ItemPage:
    """The wanted part of a list that is in memory anyway, oldest first."""
    ordered = list(reversed(items)) if wanted.newest_first else list(items)
    begin = 0
    if wanted.after is not None:
        places = [at for at, item in enumerate(ordered) if item["id"] == wanted.after]
        if not places:
            raise unknown_item(wanted.after, param="after")
        begin = places[0] + 1
    part = ordered[begin : begin + wanted.limit]
    return ItemPage(items=part, has_more=begin + wanted.limit < len(ordered))


def unknown_item(item_id: str, *, param: str) -> NotFound:
    return NotFound(f"There is no item {shown(item_id)} here.", param=param, code="item_not_found")


def item_list(page: ItemPage) -> dict[str, Any]:
    return {
        "object": "list",
        "data": page.items,
        "first_id": page.items[0]["id"] if page.items else "",
        "last_id": page.items[-1]["id"] if page.items else "",
        "has_more": page.has_more,
    }
