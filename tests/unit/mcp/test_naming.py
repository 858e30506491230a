"""Names of tools fit every provider, and no two are the same."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from hermes.mcp.naming import tool_names

SERVERS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9-]{0,29}", fullmatch=True)


def test_a_plain_name_is_kept_behind_the_name_of_its_server() -> None:
    assert tool_names("git", ["log", "show-file"]) == {
        "log": "mcp_git_log",
        "show-file": "mcp_git_show-file",
    }


def test_names_that_become_the_same_are_told_apart() -> None:
    names = tool_names("git", ["a.b", "a_b"])

    assert names["a.b"] == "mcp_git_a_b"
    assert re.fullmatch("mcp_git_a_b_[0-9a-f]{8}", names["a_b"])


@given(SERVERS, st.lists(st.text(max_size=100), unique=True))
def test_every_name_is_one_that_providers_take(server: str, tools: list[str]) -> None:
    names = tool_names(server, tools)

    assert set(names) == set(tools)
    assert len(set(names.values())) == len(names)
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in names.values())


@given(SERVERS, SERVERS, st.lists(st.text(max_size=100)), st.lists(st.text(max_size=100)))
def test_two_servers_never_share_a_name(
    one: str, other: str, tools: list[str], others: list[str]
) -> None:
    if one != other:
        taken = set(tool_names(one, tools).values())

        assert taken.isdisjoint(tool_names(other, others).values())
