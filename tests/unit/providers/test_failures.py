"""Errors of every library are put into words and kinds the agent can act on."""

from __future__ import annotations

import json
import time
from email.utils import formatdate
from typing import Any

import aiohttp
import httpx
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.core.errors import ConnectionLost, ProviderError
from hermes.providers.failures import (
    FailureKind,
    classify,
    is_transient_stream_failure,
    says_streaming_unsupported,
)
from hermes.providers.refusals import RefusedByProvider, refusal_from_answer, retry_after_of
from hermes.providers.safe_text import LONGEST, safe_text

REQUEST = httpx.Request("POST", "https://example.com/v1/chat/completions")


def sdk_error(message: str) -> openai.APIError:
    return openai.APIError(message=message, request=REQUEST, body={"message": message})


def sdk_status(status: int, message: str, **headers: str) -> openai.APIStatusError:
    response = httpx.Response(status, request=REQUEST, headers=headers)
    return openai.APIStatusError(message, response=response, body=None)


def refused(status: int | None, message: str = "No.", code: str = "x") -> ProviderError:
    return RefusedByProvider(message, status_code=status, code=code)


KINDS: list[tuple[BaseException, FailureKind]] = [
    (refused(429), FailureKind.RATE_LIMITED),
    (refused(429, "You exceeded your current quota"), FailureKind.BILLING),
    (refused(402), FailureKind.BILLING),
    (refused(401), FailureKind.AUTH),
    (refused(403), FailureKind.AUTH),
    (refused(400), FailureKind.BAD_REQUEST),
    (refused(404, "model not found"), FailureKind.BAD_REQUEST),
    (refused(400, "This model's maximum context length is 8192"), FailureKind.CONTEXT_OVERFLOW),
    (refused(400, "prompt is too long: 9 tokens > 8"), FailureKind.CONTEXT_OVERFLOW),
    (refused(413), FailureKind.CONTEXT_OVERFLOW),
    (refused(400, "This model does not support image input."), FailureKind.IMAGES_UNSUPPORTED),
    (
        refused(400, "Invalid content type. image_url is only supported by certain models."),
        FailureKind.IMAGES_UNSUPPORTED,
    ),
    (refused(404, "No endpoints found that support image input"), FailureKind.IMAGES_UNSUPPORTED),
    (refused(400, "Image inputs are not supported"), FailureKind.IMAGES_UNSUPPORTED),
    (refused(400, "We do not support image/bmp."), FailureKind.BAD_REQUEST),
    (refused(400, "The image type bmp is not allowed"), FailureKind.BAD_REQUEST),
    (refused(400, "Could not process the image."), FailureKind.BAD_REQUEST),
    (refused(500), FailureKind.OVERLOADED),
    (refused(529), FailureKind.OVERLOADED),
    (refused(None, code="overloaded_error"), FailureKind.OVERLOADED),
    (refused(None, code="rate_limit_error"), FailureKind.RATE_LIMITED),
    (refused(None, code="authentication_error"), FailureKind.AUTH),
    (refused(None, code="invalid_request_error"), FailureKind.BAD_REQUEST),
    (ProviderError("s", code="stalled"), FailureKind.STALLED),
    (ProviderError("g", code="garbled"), FailureKind.GARBLED),
    (ConnectionLost("gone"), FailureKind.NETWORK),
    (aiohttp.ServerDisconnectedError(), FailureKind.NETWORK),
    (ConnectionResetError("reset"), FailureKind.NETWORK),
    (TimeoutError(), FailureKind.STALLED),
    (json.JSONDecodeError("x", "y", 0), FailureKind.GARBLED),
    (httpx.ConnectError("refused"), FailureKind.NETWORK),
    (httpx.RemoteProtocolError("peer closed"), FailureKind.NETWORK),
    (httpx.ReadTimeout("slow"), FailureKind.STALLED),
    (openai.APIConnectionError(request=REQUEST), FailureKind.NETWORK),
    (openai.APITimeoutError(request=REQUEST), FailureKind.STALLED),
    (sdk_error("Network connection lost."), FailureKind.NETWORK),
    (sdk_error("Invalid model configuration."), FailureKind.UNKNOWN),
    (sdk_status(503, "busy"), FailureKind.OVERLOADED),
    (RuntimeError("surprise"), FailureKind.UNKNOWN),
    # The code is believed where the status says something else.
    (refused(429, "Sorry.", "insufficient_quota"), FailureKind.BILLING),
    (refused(400, "Sorry.", "context_length_exceeded"), FailureKind.CONTEXT_OVERFLOW),
    (refused(400, "Sorry.", "rate_limit_exceeded"), FailureKind.BAD_REQUEST),
    # A quota that fills up again is no bill.
    (
        refused(429, "You exceeded your current quota. Please retry in 7.5s."),
        FailureKind.RATE_LIMITED,
    ),
    (refused(500, "the request exceeds the available context size"), FailureKind.CONTEXT_OVERFLOW),
    (refused(529, "Overloaded"), FailureKind.OVERLOADED),
]


@pytest.mark.parametrize(("error", "kind"), KINDS, ids=lambda value: repr(value)[:60])
def test_errors_are_told_apart(error: BaseException, kind: FailureKind) -> None:
    assert classify(error).kind is kind


@pytest.mark.parametrize(
    "error",
    [
        httpx.ConnectError("socket closed"),
        httpx.RemoteProtocolError("peer closed connection"),
        httpx.ReadTimeout("slow"),
        ConnectionLost("gone"),
        aiohttp.ClientPayloadError("incomplete"),
        aiohttp.ClientOSError(104, "reset"),
        sdk_error("Network connection lost."),
        openai.APIConnectionError(request=REQUEST),
        openai.APITimeoutError(request=REQUEST),
    ],
    ids=repr,
)
def test_failed_connections_are_transient(error: BaseException) -> None:
    assert is_transient_stream_failure(error)


@pytest.mark.parametrize(
    "error",
    [
        Exception("Connection reset by peer"),
        sdk_error("Invalid model configuration."),
        sdk_status(502, "Network connection lost."),
        ProviderError("s", code="stalled"),
        refused(500),
    ],
    ids=repr,
)
def test_everything_else_is_not(error: BaseException) -> None:
    assert not is_transient_stream_failure(error)


def test_a_provider_that_cannot_stream_says_so() -> None:
    assert says_streaming_unsupported(Exception("Streaming is not supported for this model"))
    assert not says_streaming_unsupported(Exception("stream broke"))
    assert not says_streaming_unsupported(Exception("Model not supported"))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_of(headers) == seconds


def test_how_long_to_wait_until_a_date() -> None:
    date = formatdate(time.time() + 60, usegmt=True)
    seconds = retry_after_of({"retry-after": date})
    assert seconds is not None and 50 < seconds <= 60


def test_the_wait_of_an_sdk_error_is_read_from_its_response() -> None:
    assert classify(sdk_status(429, "slow", **{"Retry-After": "4"})).retry_after == 4.0


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Rate limit reached. Please try again in 1.5s.", 1.5),
        ("Please try again in 20ms.", 0.02),
        ("Please try again in 6m0s. Visit us.", 360.0),
        ("Please try again in 2m.", 120.0),
        ("Please retry in 7.25s", 7.25),
        ("Please try again in a moment.", None),
        ("Please try again later.", None),
    ],
)
def test_how_long_to_wait_is_also_read_from_the_words(words: str, seconds: float | None) -> None:
    assert classify(refused(429, words)).retry_after == seconds


def test_the_header_wins_over_the_words() -> None:
    error = RefusedByProvider("Try again in 9s.", status_code=429, retry_after=1.0)
    assert classify(error).retry_after == 1.0


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"message": "A", "code": "c"}}', "A"),
        (b'{"error": "B"}', "B"),
        (b'{"message": "C"}', "C"),
        (b'{"detail": "D"}', "D"),
        (b'[{"error": {"message": "E"}}]', "E"),
        (b"plain words", "plain words"),
        (b"", "no explanation"),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_error_bodies_of_every_shape_are_read(body: bytes, said: str) -> None:
    assert str(refusal_from_answer("host", 400, {}, body, ())) == f"host answered 400: {said}"


SECRETS = ["sk-proj-abcdefghijklmnop", "Bearer abcdefghijklmnop", "hf_abcdefghijklmnop"]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_key_is_masked(secret: str) -> None:
    shown = classify(RuntimeError(f"refused {secret} today")).message
    assert "abcdefghijklmnop" not in shown
    assert shown.startswith("refused ") and shown.endswith(" today")


@given(st.text(max_size=2000), st.text(min_size=8, max_size=20))
def test_shown_text_is_short_printable_and_free_of_the_secret(text: str, secret: str) -> None:
    shown = safe_text(text + secret + text, secrets=[secret, None, ""])
    assert len(shown) <= LONGEST
    assert "\n" not in shown
    shown.encode()


@given(st.sampled_from(["k" * 8, "key with spaces", "a\nb\nc\nd\ne"]), st.integers(0, 600))
def test_a_known_secret_never_shows_wherever_it_stands(secret: str, offset: int) -> None:
    assert secret not in safe_text("x" * offset + secret + "y", secrets=[secret])


def test_an_error_without_words_is_named_after_its_class() -> None:
    assert classify(ValueError()).message == "ValueError"


def test_a_status_that_is_no_number_is_ignored() -> None:
    error: Any = RuntimeError("odd")
    error.status_code = "500"
    assert classify(error).status_code is None
