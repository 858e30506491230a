"""What a job used is counted once: whatever its results tell, and however often it resumed."""

from __future__ import annotations

from typing import Any

from hermes.backends.drivers.claude_lines import ClaudeLines
from hermes.backends.saying import Exit
from hermes.core.usage import NO_USAGE, Usage
from tests.unit.backends.drivers.claude_output import (
    delta,
    failure,
    model_usage,
    read,
    result,
    start,
    stop,
)


def used(*told: Any) -> Usage:
    lines = ClaudeLines()
    read(lines, *told)
    return lines.finish(Exit(code=0)).usage


def test_all_of_the_input_counts_as_the_gateway_counts() -> None:
    models = model_usage(
        100, 17, cacheReadInputTokens=30, cacheCreationInputTokens=20, thinkingTokens=4
    )
    assert used(result(model_usage_since_last_result=models)) == Usage(
        input_tokens=150,
        output_tokens=17,
        total_tokens=167,
        cached_tokens=30,
        cache_write_tokens=20,
        reasoning_tokens=4,
        cost_usd=0.25,
    )


def test_a_resumed_session_counts_its_own_turn_alone() -> None:
    since = model_usage(100, 10)
    turn = result(model_usage_since_last_result=since, modelUsage=model_usage(500, 50, costUSD=9))
    assert used(turn) == Usage(input_tokens=100, output_tokens=10, total_tokens=110, cost_usd=0.25)


def test_the_shares_of_several_results_add_up() -> None:
    share = result(model_usage_since_last_result=model_usage(100, 10))
    usage = used(share, share)
    assert (usage.total_tokens, usage.cost_usd) == (220, 0.5)


def test_older_versions_count_the_process_in_every_result() -> None:
    usage = used(result(modelUsage=model_usage(100, 10)), result(modelUsage=model_usage(300, 30)))
    assert (usage.input_tokens, usage.output_tokens) == (300, 30)


def test_several_models_are_one_sum() -> None:
    models = model_usage(100, 10) | {"claude-opus-5": {"inputTokens": 7, "costUSD": 1.0}}
    usage = used(result(model_usage_since_last_result=models))
    assert (usage.input_tokens, usage.cost_usd) == (107, 1.25)


def test_a_result_that_only_knows_its_turn_counts_it() -> None:
    turn = {"input_tokens": 50, "output_tokens": 5}
    usage = used(result(usage=turn, total_cost_usd=0.1), result(usage=turn))
    assert (usage.total_tokens, usage.cost_usd) == (110, 0.1)


def test_what_was_interrupted_counts_what_the_provider_told_before() -> None:
    interrupted = failure("", model_usage_since_last_result={}, usage={"input_tokens": 0})
    usage = used(start(read=100), delta("word " * 20), interrupted)
    assert (usage.input_tokens, usage.cached_tokens) == (130, 30)
    assert usage.output_tokens > 10
    assert usage.is_estimated


def test_without_any_result_the_streams_are_added_up() -> None:
    usage = used(
        *(start(read=100), delta("Hello."), stop("tool_use", written=7)),
        *(start("msg_2", read=200), delta("And more."), stop(written=9)),
    )
    assert (usage.input_tokens, usage.output_tokens) == (360, 16)
    assert not usage.is_estimated


def test_what_a_result_has_counted_is_not_counted_again_from_its_stream() -> None:
    told = start(), delta("Hello."), stop()
    share = result(model_usage_since_last_result=model_usage(100, 10))
    assert used(*told, share).total_tokens == 110


def test_what_follows_the_last_result_is_added_to_it() -> None:
    share = result(model_usage_since_last_result=model_usage(100, 10))
    usage = used(share, start(read=40), delta("More"), stop(written=3))
    assert (usage.input_tokens, usage.output_tokens) == (170, 13)
    assert usage.is_cost_partial


def test_sub_agents_that_work_at_once_are_told_apart() -> None:
    usage = used(
        *(start("a", read=10, parent="toolu_1"), start("b", read=20, parent="toolu_2")),
        *(delta("x" * 400, parent="toolu_1"), delta("y", parent="toolu_2")),
    )
    assert usage.input_tokens == 90
    assert 100 <= usage.output_tokens <= 110


def test_numbers_that_are_none_count_nothing() -> None:
    odd = {"m": {"inputTokens": "many", "outputTokens": -4, "costUSD": True}, "n": 3}
    usage = used(result(model_usage_since_last_result=odd))
    assert (usage.total_tokens, usage.cost_usd) == (0, None)


def test_a_result_without_numbers_used_nothing() -> None:
    assert used(result()) == NO_USAGE
