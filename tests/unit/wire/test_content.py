"""Contents of both dialects come out in one form, and nothing is lost on the way."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import InvalidRequest
from hermes.wire.content import MAX_IMAGE_BYTES, file_data_base64, normalise, plain_text

PNG = "data:image/png;base64,AAAA"

TEXT_FILE = "data:text/plain;base64,SGVsbG8="

text_parts = st.builds(
    lambda kind, text: {"type": kind, "text": text},
    st.sampled_from(["text", "input_text", "output_text"]),
    st.text(),
) | st.builds(lambda text: {"type": "refusal", "refusal": text}, st.text())
urls = st.sampled_from([PNG, "https://example.org/cat.png", "HTTP://example.org/a"])
image_parts = st.one_of(
    st.builds(lambda url: {"type": "image_url", "image_url": {"url": url}}, urls),
    st.builds(lambda url: {"type": "image_url", "image_url": url}, urls),
    st.builds(lambda url: {"type": "input_image", "image_url": url, "detail": "low"}, urls),
)
file_parts = st.sampled_from(
    [
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "file", "file": {"file_data": TEXT_FILE, "filename": "a.txt"}},
        {"type": "input_file", "file_id": "file-1", "detail": "low"},
        {"type": "input_file", "file_data": "SGVsbG8=", "filename": "a.txt"},
        {"type": "input_image", "file_id": "file-2", "detail": "high"},
        {"type": "image_file", "image_file": {"file_id": "file-2"}},
    ]
)


def refusal(content: Any) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        normalise(content, param="messages[2].content")
    return caught.value


@given(st.text())
def test_a_string_stays_the_very_same_string(text: str):
    assert normalise(text, param="p") is text


@given(st.lists(text_parts, max_size=4))
def test_parts_that_are_all_text_become_one_string(parts: list[dict[str, str]]):
    said = [part.get("text", part.get("refusal", "")) for part in parts]
    assert normalise(parts, param="p") == "\n".join(said)


@given(st.lists(text_parts | image_parts | file_parts, max_size=5))
def test_normal_content_is_left_as_it_is(parts: list[dict[str, Any]]):
    once = normalise(parts, param="p")
    assert normalise(once, param="p") == once


@given(
    st.lists(text_parts | image_parts, min_size=1, max_size=5).filter(
        lambda parts: any("image_url" in part for part in parts)
    )
)
def test_no_part_is_dropped_where_there_are_images(parts: list[dict[str, Any]]):
    content = normalise(parts, param="p")
    assert isinstance(content, list)
    kinds = ["image_url" if "image_url" in part else "text" for part in parts]
    assert [part["type"] for part in content] == kinds


def test_an_image_keeps_its_address_and_its_detail():
    assert normalise(
        [
            {"type": "input_text", "text": "Look"},
            {"type": "input_image", "image_url": PNG},
            {"type": "input_image", "image_url": PNG, "detail": "high"},
            {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
        ],
        param="p",
    ) == [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": PNG}},
        {"type": "image_url", "image_url": {"url": PNG, "detail": "high"}},
        {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
    ]


@pytest.mark.parametrize("kind", ["video", "input_video", None, 7])
def test_a_part_we_cannot_carry_is_refused_by_type_and_place(kind: Any):
    error = refusal([{"type": kind}])
    assert error.param == "messages[2].content[0]"
    assert str(kind if kind is not None else "null") in error.message


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://example.org/a.png",
        "file:///etc/passwd",
        "data:text/html;base64,AAAA",
        "data:image/png,AAAA",
        "data:image/png;base64,",
        " https://example.org/a.png",
        "javascript:alert(1)",
    ],
)
def test_an_image_from_elsewhere_is_refused(url: str):
    error = refusal([{"type": "text", "text": "x"}, {"type": "input_image", "image_url": url}])
    assert error.param == "messages[2].content[1].image_url"
    assert error.code == "invalid_image_url"


@pytest.mark.parametrize(
    "content",
    [
        None,
        5,
        {"type": "text", "text": "x"},
        ["text"],
        [{"type": "text"}],
        [{"type": "text", "text": 1}],
        [{"type": "refusal", "text": "no"}],
        [{"type": "input_image", "file_id": 1}],
        [{"type": "file", "file": "file-1"}],
        [{"type": "file", "file": {"file_id": "file-1", "filename": 3}}],
        [{"type": "image_file"}],
        [{"type": "image_url", "image_url": {"url": None}}],
        [{"type": "image_url", "image_url": {"url": PNG, "detail": 1}}],
    ],
)
def test_wrong_types_are_refused(content: Any):
    assert refusal(content).code == "invalid_type"


def test_a_system_message_may_hold_nothing_but_text():
    assert plain_text([{"type": "text", "text": "a"}], param="p") == "a"
    with pytest.raises(InvalidRequest, match="user message"):
        plain_text([{"type": "image_url", "image_url": PNG}], param="p")


def test_files_come_out_in_the_form_of_chat():
    assert normalise(
        [
            {"type": "input_file", "file_id": "file-1"},
            {"type": "input_file", "file_data": TEXT_FILE, "filename": "a.txt"},
            {"type": "file", "file": {"file_id": "file-1", "file_data": None}},
            {"type": "input_image", "file_id": "file-2", "detail": "low"},
        ],
        param="p",
    ) == [
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "file", "file": {"file_data": TEXT_FILE, "filename": "a.txt"}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "image_file", "image_file": {"file_id": "file-2", "detail": "low"}},
    ]


@pytest.mark.parametrize(
    ("part", "code", "where"),
    [
        ({"type": "input_audio", "input_audio": {}}, "audio_unsupported", ""),
        ({"type": "input_file", "file_url": "https://a.b"}, "file_url_unsupported", ".file_url"),
        ({"type": "input_file"}, "invalid_value", ""),
        ({"type": "input_file", "file_id": "f", "file_data": "AAAA"}, "invalid_value", ""),
        ({"type": "input_file", "file_data": "data:;base64,A"}, "invalid_file_data", ".file_data"),
        ({"type": "input_file", "file_data": "not base64"}, "invalid_file_data", ".file_data"),
        ({"type": "input_image", "image_url": PNG + "A"}, "invalid_image", ".image_url"),
        ({"type": "input_image", "image_url": PNG + "\nAAAA"}, "invalid_image", ".image_url"),
        ({"type": "input_image", "image_url": PNG + "ÄÄÄÄ"}, "invalid_image", ".image_url"),
    ],
)
def test_what_cannot_be_served_says_why(part: dict[str, Any], code: str, where: str):
    error = refusal([part])
    assert (error.code, error.param) == (code, f"messages[2].content[0]{where}")


def test_an_image_over_the_limit_is_refused():
    encoded = "AAAA" * (MAX_IMAGE_BYTES // 3 + 1)
    error = refusal([{"type": "input_image", "image_url": f"data:image/png;base64,{encoded}"}])
    assert error.code == "image_too_large"


@given(st.binary())
def test_a_file_is_found_behind_every_head_of_a_data_url(data: bytes):
    encoded = base64.b64encode(data).decode()
    for head in ("", "data:;base64,", "data:text/plain;charset=utf-8;base64,"):
        assert file_data_base64(head + encoded) == encoded
