"""How the CLI is called, and what its output means."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.backends.claude import ARGUMENT_LIMIT, Answered, Failed, Plan, plan, read_reply
from hermes.backends.process import Completed
from hermes.core.turn import Usage

FLAGS = ("-p", "--output-format", "stream-json", "--verbose", "--model", "haiku")
GUARDS = ("--setting-sources", "user", "--strict-mcp-config")

INIT = {"type": "system", "subtype": "init", "session_id": "s-1", "tools": []}
SPOKEN = {
    "type": "assistant",
    "message": {"content": [{"type": "text", "text": "Hel"}], "usage": {"output_tokens": 1}},
}


def result(**changes: Any) -> dict[str, Any]:
    """A result line; its type stands last, as the CLI sometimes prints it."""
    usual = {"subtype": "success", "is_error": False, "result": "Hello.", "session_id": "s-1"}
    return usual | changes | {"type": "result"}


def printed(*events: Any, returncode: int = 0, stderr: str = "") -> Completed:
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return Completed(returncode, "".join(f"{line}\n" for line in lines).encode(), stderr)


def test_the_prompt_is_the_last_argument_and_cannot_be_an_option() -> None:
    assert plan(("claude",), "haiku", "--version") == Plan(
        ("claude", *GUARDS, *FLAGS, "--", "--version")
    )


def test_a_prompt_with_a_slash_is_text_and_no_command() -> None:
    assert plan(("claude",), "haiku", "/cost").argv[-1] == " /cost"


def test_the_operators_word_about_a_guard_counts() -> None:
    command = ("claude", "--setting-sources", "user,project")
    assert plan(command, "haiku", "hi").argv == (
        *command,
        "--strict-mcp-config",
        *FLAGS,
        "--",
        "hi",
    )


def test_a_prompt_too_long_for_an_argument_goes_through_stdin() -> None:
    prompt = "ä" * ARGUMENT_LIMIT
    assert plan(("claude",), "haiku", prompt) == Plan(
        ("claude", *GUARDS, *FLAGS), stdin=prompt.encode()
    )


def test_the_result_is_the_answer_with_tokens_cost_and_session() -> None:
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 400,
        "output_tokens": 7,
        "output_tokens_details": {"thinking_tokens": 2},
    }
    run = printed(INIT, SPOKEN, result(usage=usage, total_cost_usd=0.01))
    assert read_reply(run) == Answered(
        text="Hello.",
        usage=Usage(
            input_tokens=423,
            output_tokens=7,
            total_tokens=430,
            cached_tokens=400,
            reasoning_tokens=2,
        ),
        cost_usd=0.01,
        session_id="s-1",
    )


def test_the_minimal_result_is_enough() -> None:
    run = printed({"type": "result", "result": "ok", "is_error": False})
    assert read_reply(run) == Answered(text="ok")


def model_usage(input_tokens: int, output_tokens: int) -> dict[str, int]:
    return {"inputTokens": input_tokens, "outputTokens": output_tokens}


def test_tokens_of_every_model_count_because_subagents_may_use_another() -> None:
    run = printed(
        result(
            usage={"input_tokens": 10, "output_tokens": 1},
            modelUsage={"big": model_usage(10, 1), "small": model_usage(100, 2)},
        )
    )
    reply = read_reply(run)
    assert isinstance(reply, Answered)
    assert reply.usage == Usage(input_tokens=110, output_tokens=3, total_tokens=113)


def test_of_several_results_the_last_answers_and_the_steps_add_up() -> None:
    steps = [
        result(result="early", model_usage_since_last_result={"m": model_usage(10, 1)}),
        result(result="late", model_usage_since_last_result={"m": model_usage(20, 2)}),
    ]
    reply = read_reply(printed(*steps))
    assert isinstance(reply, Answered)
    assert reply.text == "late"
    assert reply.usage == Usage(input_tokens=30, output_tokens=3, total_tokens=33)


def test_lines_of_an_unknown_kind_are_passed_over() -> None:
    run = printed("warning: new version", {"type": "novelty", "x": 1}, "", [1], 7, result(), "bye")
    assert read_reply(run) == Answered(text="Hello.", session_id="s-1")


def test_a_line_separator_inside_a_string_does_not_split_the_line() -> None:
    line = json.dumps(result(result="one\u2028two"), ensure_ascii=False)
    assert read_reply(printed(line)) == Answered(text="one\u2028two", session_id="s-1")


@pytest.mark.parametrize("text", ["plain words", "two\nlines", "42", '{"no": "type"}', "[1]"])
def test_output_that_is_not_the_clis_json_is_the_answer_itself(text: str) -> None:
    assert read_reply(printed(text)) == Answered(text=text)


@pytest.mark.parametrize("returncode", [0, 1])
@pytest.mark.parametrize(
    ("last", "message"),
    [
        (result(is_error=True, result="API Error: 401"), "API Error: 401"),
        (
            result(is_error=True, result=None, errors=["Reached", "limits"]),
            "Reached; limits",
        ),
        (
            result(is_error=True, result="", subtype="error_max_turns"),
            "error_max_turns",
        ),
        ({"type": "result", "is_error": True}, "the CLI reported an error"),
    ],
)
def test_a_result_that_is_an_error_fails_in_the_clis_words(
    last: dict[str, Any], message: str, returncode: int
) -> None:
    assert read_reply(printed(INIT, last, returncode=returncode)) == Failed(message)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (printed(returncode=42, stderr="boom\n"), "boom"),
        (printed(returncode=42), "exit code 42"),
        (printed("Unknown agent", returncode=1), "Unknown agent"),
        (printed(INIT, returncode=143), "exit code 143"),
        (printed(result(), returncode=1, stderr="late"), "late"),
        (printed(), "the CLI printed nothing"),
        (printed(stderr="odd"), "odd"),
    ],
)
def test_a_failed_run_says_what_is_known(run: Completed, message: str) -> None:
    assert read_reply(run) == Failed(message)


def test_a_stream_without_a_result_is_no_answer() -> None:
    reply = read_reply(printed(INIT, SPOKEN))
    assert isinstance(reply, Failed)
    assert "without a result" in reply.message


@given(st.integers(min_value=1, max_value=len(json.dumps(result())) - 1))
def test_a_result_cut_off_anywhere_is_a_failure_and_never_an_answer(kept: int) -> None:
    run = Completed(0, json.dumps(INIT).encode() + b"\n" + json.dumps(result())[:kept].encode(), "")
    reply = read_reply(run)
    assert isinstance(reply, Failed)
    assert "broke off" in reply.message


def test_half_a_character_pair_becomes_a_question_mark() -> None:
    reply = read_reply(printed('{"type": "result", "result": "a\\ud83d"}'))
    assert reply == Answered(text="a?")


@pytest.mark.parametrize("usage", [None, 7, [], {"input_tokens": "many", "output_tokens": True}])
def test_nonsense_in_the_bookkeeping_does_not_spoil_the_answer(usage: Any) -> None:
    run = printed(result(usage=usage, modelUsage={"m": usage}, total_cost_usd="much"))
    assert read_reply(run) == Answered(text="Hello.", session_id="s-1")


def test_a_cost_that_is_no_number_is_no_cost() -> None:
    reply = read_reply(printed('{"type": "result", "result": "x", "total_cost_usd": NaN}'))
    assert reply == Answered(text="x")


NAMES = ["result", "is_error", "usage", "modelUsage", "errors", "total_cost_usd", "session_id"]
ODDITIES: list[Any] = [
    None,
    True,
    0,
    -3,
    10**400,
    float("inf"),
    "",
    "text",
    "\ud800",
    [],
    [None],
    {},
]
NESTED = [{"input_tokens": oddity, "m": {"inputTokens": oddity}} for oddity in ODDITIES]
result_like = st.dictionaries(
    st.sampled_from(NAMES), st.sampled_from([*ODDITIES, *NESTED]), max_size=len(NAMES)
)


@given(
    st.lists(result_like.map(lambda fields: fields | {"type": "result"}), max_size=2),
    st.binary(max_size=20),
)
def test_no_output_can_make_the_reader_raise(results: list[dict[str, Any]], tail: bytes) -> None:
    stdout = b"".join(json.dumps(line).encode() + b"\n" for line in results) + tail
    reply = read_reply(Completed(0, stdout, ""))
    text = reply.text if isinstance(reply, Answered) else reply.message
    assert text.encode().decode() == text
