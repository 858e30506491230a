"""Pages of items as OpenAI lists them: which part is wanted, and how it is answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hermes.core.errors import InvalidRequest, NotFound
from hermes.core.ports import ItemPage
from hermes.wire.lenient import shown

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
    order = query.get("order", "desc")
    if order not in ("asc", "desc"):
        raise InvalidRequest(
            f"'order' must be asc or desc, not {shown(order)}.", param="order", code="invalid_value"
        )
    return ItemQuery(
        limit=whole_number(query, "limit", _DEFAULT, low=1, high=MOST_ITEMS),
        after=query.get("after") or None,
        newest_first=order == "desc",
    )


def whole_number(query: Mapping[str, str], name: str, default: int, *, low: int, high: int) -> int:
    written = query.get(name)
    if written is None:
        return default
    # The length is checked too: a number of a thousand digits is not worth converting.
    readable = written.isascii() and written.isdigit() and len(written) <= 18
    if not readable or not low <= int(written) <= high:
        raise InvalidRequest(
            f"'{name}' must be a whole number from {low} to {high}.",
            param=name,
            code="invalid_value",
        )
    return int(written)


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
