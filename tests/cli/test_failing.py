"""What goes wrong between a CLI and its provider is told to the client, and ends in time."""

from __future__ import annotations

import time
from typing import Any

import openai
import pytest

from hermes.testing.replies import Broken, Finish, HttpError, Text
from tests.cli.leftovers import nothing_is_left
from tests.cli.stage import PROVIDER_KEY, Stage, unique

both = pytest.mark.parametrize("model", ["claude/haiku", "codex/scripted"])


def _refusal(status: int, kind: str, **headers: str) -> HttpError:
    error = {"type": kind, "message": f"The provider says {status} ({PROVIDER_KEY})."}
    return HttpError(status, {"type": "error", "error": error}, headers)


@both
@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (_refusal(401, "authentication_error"), (502,)),
        (_refusal(429, "rate_limit_error", **{"retry-after": "1"}), (429,)),
        (_refusal(500, "api_error"), (502, 503)),
        (_refusal(400, "invalid_request_error"), (400,)),
    ],
    ids=["401", "429", "500", "400"],
)
async def test_a_refusal_of_the_provider_has_a_status_of_its_own(
    stage: Stage, model: str, refusal: HttpError, told: tuple[int, ...]
) -> None:
    word = unique("refused")
    stage.on(word, refusal)

    with pytest.raises(openai.APIStatusError) as caught:
        await stage.say(model, word)

    error: Any = caught.value
    assert error.status_code in told, error.body
    assert PROVIDER_KEY not in str(error.body)
    if error.status_code == 429:
        assert int(error.response.headers["Retry-After"]) > 0


@both
async def test_a_refusal_after_the_stream_began_is_an_error_and_no_answer(
    stage: Stage, model: str
) -> None:
    word = unique("refused")
    stage.on(word, _refusal(500, "api_error"))

    with pytest.raises(openai.APIError):
        await stage.stream(model, word)


@both
async def test_an_answer_that_was_cut_off_at_a_limit_says_so(stage: Stage, model: str) -> None:
    word = unique("cut")
    stage.on(word, [Text("Half an ans"), Finish("length")])

    answer = await stage.chat(model, word)

    assert answer.choices[0].finish_reason == "length"
    assert answer.choices[0].message.content.startswith("Half an ans")


@both
async def test_what_the_provider_will_not_say_is_told_as_such(stage: Stage, model: str) -> None:
    word = unique("refused")
    stage.on(word, [Text("No"), Finish("content_filter")])

    with pytest.raises(openai.APIStatusError) as caught:
        await stage.say(model, word)

    error: Any = caught.value
    assert error.body["code"] == "content_filter"


async def test_a_cli_that_says_nothing_any_more_is_ended(stage: Stage) -> None:
    word = unique("hang")
    stage.on(word, Broken("Half an ans", how="stall"))
    began = time.monotonic()

    with pytest.raises(openai.APIError) as caught:
        await stage.say("impatient/haiku", word)

    assert "silent" in str(caught.value)
    assert time.monotonic() - began < 30
    await nothing_is_left(stage.home)


async def test_an_unknown_model_of_an_agent_is_refused_without_asking_anybody(
    stage: Stage,
) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        await stage.say("claude/gpt-4", "hello")

    assert "claude/haiku" in str(caught.value)
