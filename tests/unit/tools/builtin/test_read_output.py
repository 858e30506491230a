"""What was cut of a long output is read in parts, or searched."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.tools.base import ToolContext

Run = Callable[..., str]


def kept(served: ToolContext, text: str) -> str:
    assert served.services.outputs is not None
    output_id = served.services.outputs.keep(served.scope.holder, text)
    assert output_id is not None
    return output_id


def test_parts_say_where_to_read_on_and_where_the_end_is(
    run_served: Run, served: ToolContext
) -> None:
    name = kept(served, "0123456789")
    first = run_served("read_output", id=name, limit=4)
    assert first == "0123\n[Characters 0 to 4 of 10; read on with offset=4.]"
    rest = run_served("read_output", id=name, offset=4)
    assert rest == "456789\n[Characters 4 to 10 of 10; this is its end.]"
    assert "only 10 characters" in run_served("read_output", id=name, offset=10)


def test_a_text_is_found_with_its_place(run_served: Run, served: ToolContext) -> None:
    name = kept(served, "one error here, error\nnothing\nerror there\n")
    found = run_served("read_output", id=name, find="error")
    assert found == "4: one error here, error\n30: error there"
    assert run_served("read_output", id=name, find="error", offset=10).startswith("16: ")
    over_lines = run_served("read_output", id=name, find="\nnothing")
    assert over_lines == "21: one error here, error\\nnothing"
    assert "does not stand" in run_served("read_output", id=name, find="missing")


def test_many_places_are_told_in_portions(run_served: Run, served: ToolContext) -> None:
    name = kept(served, "hit\n" * 60)
    found = run_served("read_output", id=name, find="hit")
    assert len(found.splitlines()) == 51
    assert found.endswith("[More follow; go on with offset=200.]")
    assert len(run_served("read_output", id=name, find="hit", offset=200).splitlines()) == 10


@given(text=st.text(min_size=1, max_size=60), wanted=st.text(min_size=1, max_size=2))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_search_hangs_or_crashes(
    run_served: Run, served: ToolContext, text: str, wanted: str
) -> None:
    assert "unexpectedly" not in run_served("read_output", id=kept(served, text), find=wanted)


def test_an_unknown_id_is_explained(run_served: Run) -> None:
    assert "There is no output 'out_x'" in run_served("read_output", id="out_x")


def test_a_command_whose_output_is_long_can_be_read_to_the_last_line(run_served: Run) -> None:
    shown = run_served("terminal", command="seq 1 100000")
    assert shown.endswith("100000\n[exit code 0]")
    name = shown.partition('read_output(id="')[2].partition('"')[0]
    assert "50000: " not in shown
    found = run_served("read_output", id=name, find="\n50000\n")
    offset = int(found.partition(":")[0])
    part = run_served("read_output", id=name, offset=offset, limit=13)
    assert part.startswith("\n50000\n50001\n")
