"""The session routes' requests and answers."""

from __future__ import annotations

from typing import Any

import pytest

from hermes.core.errors import InvalidRequest
from hermes.core.sessions import MessageQuery
from hermes.core.turn import Outcome, TurnResult, Usage
from hermes.wire import sessions
from hermes.wire.sessions import Page, SessionChat, SessionCreate, SessionFork, SessionPatch

ROW = {
    "id": "s1",
    "title": "Chat",
    "title_source": "user",
    "source": "api_server",
    "model": None,
    "parent_session_id": None,
    "message_count": 2,
    "started_at": 1.5,
    "updated_at": 2.5,
    "ended_at": None,
    "end_reason": None,
}


def test_a_session_shows_its_public_columns_only():
    assert sessions.session_object({**ROW, "owner_key": "secret"}) == ROW
    assert sessions.session_envelope(ROW) == {"object": "hermes.session", "session": ROW}


@pytest.mark.parametrize(
    ("given", "own", "shown"),
    [
        ("Mine", "First words", ("Mine", "user")),
        ("", "First words", ("", "user")),
        (None, "First words", ("First words", "auto")),
        (None, None, (None, None)),
    ],
)
def test_a_session_without_a_title_is_called_after_its_first_words(given, own, shown):
    found = sessions.session_object({**ROW, "title": given, "auto_title": own})
    assert (found["title"], found["title_source"]) == shown


@pytest.mark.parametrize("query", [{}, {"limit": ""}, {"unknown": "1"}])
def test_without_parameters_all_messages_are_wanted(query: dict[str, str]):
    assert sessions.parse_message_query(query) is None


def test_a_part_of_the_messages_can_be_wanted():
    query = {"limit": "5", "after": "7", "before": "9", "order": "desc"}
    assert sessions.parse_message_query(query) == MessageQuery(
        limit=5, after=7, before=9, newest_first=True
    )
    assert sessions.parse_message_query({"order": "asc"}) == MessageQuery()


@pytest.mark.parametrize(
    "query",
    [{"limit": "0"}, {"limit": "1001"}, {"after": "x"}, {"before": "-1"}, {"order": "up"}],
)
def test_a_part_that_cannot_be_is_refused_by_name(query: dict[str, str]):
    with pytest.raises(InvalidRequest) as refusal:
        sessions.parse_message_query(query)
    assert [refusal.value.param] == list(query)


@pytest.mark.parametrize(
    "body",
    [
        {"message_id": 7},
        {"up_to": 7},
        {"up_to": "7"},
        {"message_id": 7.0},
        {"message_id": 7, "up_to": 7},
    ],
)
def test_a_fork_may_name_its_last_message(body: dict[str, Any]):
    assert sessions.parse_fork(body) == SessionFork(title=None, up_to=7)


@pytest.mark.parametrize(
    "body",
    [
        {"message_id": 0},
        {"up_to": "x"},
        {"up_to": True},
        {"up_to": [7]},
        {"message_id": 7, "up_to": 8},
    ],
)
def test_a_fork_with_no_such_message_is_refused(body: dict[str, Any]):
    with pytest.raises(InvalidRequest):
        sessions.parse_fork(body)


def test_a_message_shows_tool_keys_only_where_it_has_them():
    plain = {"id": 1, "role": "user", "content": "hi", "timestamp": 1.5}
    assert sessions.message_object({**plain, "tool_calls": None, "tool_name": None}) == plain
    tool = {**plain, "role": "tool", "tool_call_id": "c", "tool_name": "f"}
    assert sessions.message_object(tool) == tool


def test_a_page_of_sessions_tells_whether_there_are_more():
    listed = sessions.session_list([ROW], Page(limit=1, offset=1), total=3)
    assert listed == {
        "object": "list",
        "data": [ROW],
        "limit": 1,
        "offset": 1,
        "total": 3,
        "has_more": True,
    }
    assert sessions.session_list([], Page(), total=0)["has_more"] is False


def test_messages_are_listed_in_order():
    rows = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    listed = sessions.message_list("s1", rows)
    assert (listed["object"], listed["session_id"]) == ("list", "s1")
    assert [message["content"] for message in listed["data"]] == ["a", "b"]


def test_a_deleted_session_is_named():
    assert sessions.session_deleted("s1") == {
        "object": "hermes.session.deleted",
        "id": "s1",
        "deleted": True,
    }


def test_a_turn_in_a_session_is_answered_with_its_message():
    usage = Usage(input_tokens=1, output_tokens=2, total_tokens=3)
    assert sessions.session_chat_completion("s1", TurnResult(text="Hi", usage=usage)) == {
        "object": "hermes.session.chat.completion",
        "session_id": "s1",
        "message": {"role": "assistant", "content": "Hi"},
        "usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
    }


def test_an_incomplete_turn_says_so():
    answer = sessions.session_chat_completion("s1", TurnResult(outcome=Outcome.TRUNCATED))
    assert answer["hermes"]["error_code"] == "output_truncated"


def test_requests_are_read():
    assert sessions.parse_create({}) == SessionCreate(title=None, model=None)
    assert sessions.parse_create({"title": "T", "model": "m"}) == SessionCreate("T", "m")
    assert sessions.parse_patch({"title": "T"}) == SessionPatch("T")
    assert sessions.parse_patch({"title": None}) == SessionPatch(None)
    assert sessions.parse_fork({}) == SessionFork(None)
    assert sessions.parse_fork({"title": "T"}) == SessionFork("T")
    assert sessions.parse_session_chat({"message": "Hi"}) == SessionChat("Hi", None)


def test_a_message_may_hold_images():
    chat = sessions.parse_session_chat(
        {
            "message": [
                {"type": "input_text", "text": "?"},
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
            ],
            "system_message": "Be brief.",
        }
    )
    assert chat.system_prompt == "Be brief."
    assert chat.user_message == [
        {"type": "text", "text": "?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]


@pytest.mark.parametrize(
    ("parse", "body", "param"),
    [
        (sessions.parse_create, {"title": 5}, "title"),
        (sessions.parse_create, {"title": "x" * 201}, "title"),
        (sessions.parse_create, {"model": []}, "model"),
        (sessions.parse_patch, {}, "title"),
        (sessions.parse_fork, {"title": {}}, "title"),
        (sessions.parse_session_chat, {}, "message"),
        (sessions.parse_session_chat, {"message": ""}, "message"),
        (sessions.parse_session_chat, {"message": 5}, "message"),
        (sessions.parse_session_chat, {"message": [{"type": "file"}]}, "message[0].file"),
        (sessions.parse_session_chat, {"message": "x", "system_message": 1}, "system_message"),
        (sessions.parse_page, {"limit": "0"}, "limit"),
        (sessions.parse_page, {"limit": "201"}, "limit"),
        (sessions.parse_page, {"limit": "ten"}, "limit"),
        (sessions.parse_page, {"limit": "\u0663"}, "limit"),
        (sessions.parse_page, {"offset": "-1"}, "offset"),
        (sessions.parse_page, {"offset": "9" * 5000}, "offset"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_by_name(parse: Any, body: Any, param: str):
    with pytest.raises(InvalidRequest) as caught:
        parse(body)
    assert caught.value.param == param


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ({}, Page(limit=50, offset=0)),
        ({"limit": "", "offset": " "}, Page(limit=50, offset=0)),
        ({"limit": "200", "offset": "7"}, Page(limit=200, offset=7)),
    ],
)
def test_a_page_has_sensible_defaults(query: dict[str, str], page: Page):
    assert sessions.parse_page(query) == page
