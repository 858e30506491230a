"""What was cut can be read by those it belongs to, for a while, and takes a bounded place."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from hermes.settings.tool_settings import ToolSettings
from hermes.tools.base import Scope, ToolContext, tool
from hermes.tools.outputs import LARGEST, Outputs
from hermes.tools.registry import RESULT_LIMIT, Registry


def outputs_in(folder: Path, now: float = 1000.0, **settings: int) -> Outputs:
    chosen = ToolSettings(**settings)  # type: ignore[arg-type]
    return Outputs(lambda: folder, lambda: chosen, lambda: now)


def kept_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/out_*"))


def keep(outputs: Outputs, owner: str, text: str) -> str:
    output_id = outputs.keep(owner, text)
    assert output_id is not None
    return output_id


def test_what_was_kept_is_read_again_to_the_letter(tmp_path: Path) -> None:
    outputs = outputs_in(tmp_path)
    text = "ä€😀\r\n\n end "
    assert outputs.read("ann", keep(outputs, "ann", text)) == text


def test_nobody_reads_what_belongs_to_another(tmp_path: Path) -> None:
    outputs = outputs_in(tmp_path)
    assert outputs.read("bob", keep(outputs, "ann", "text")) is None


@pytest.mark.parametrize("name", ["", "..", "../x", "out_1", "out_" + "g" * 24, "a\0b", "/etc/x"])
def test_only_ids_are_looked_up(tmp_path: Path, name: str) -> None:
    assert outputs_in(tmp_path).read("ann", name) is None


def test_nobody_else_on_the_machine_can_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    keep(outputs_in(folder), "ann", "text")
    [file] = kept_files(folder)
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.stat().st_mode & 0o777 for each in (file.parent, folder)] == [0o700, 0o700]


def test_old_ones_are_deleted_when_another_comes(tmp_path: Path) -> None:
    outputs = outputs_in(tmp_path, now=100_000, keep_outputs_hours=1)
    old, fresh = keep(outputs, "ann", "old"), keep(outputs, "ann", "fresh")
    for name, age in ((old, 3601), (fresh, 3599)):
        [file] = [each for each in kept_files(tmp_path) if each.name == name]
        os.utime(file, (0, 100_000 - age))
    keep(outputs, "bob", "new")
    assert outputs.read("ann", old) is None
    assert outputs.read("ann", fresh) == "fresh"


def test_the_oldest_go_when_there_is_no_room(tmp_path: Path) -> None:
    outputs = outputs_in(tmp_path, now=10_000, keep_outputs_mb=1)
    names = []
    for age in (30, 20, 10):
        names.append(keep(outputs, "ann", "x" * 400_000))
        [file] = [each for each in kept_files(tmp_path) if each.name == names[-1]]
        os.utime(file, (0, 10_000 - age))
    assert [outputs.read("ann", name) is not None for name in names] == [False, True, True]


def test_nothing_is_kept_where_nothing_may_be(tmp_path: Path) -> None:
    assert outputs_in(tmp_path, keep_outputs_mb=0).keep("ann", "text") is None
    assert kept_files(tmp_path) == []


def test_of_an_enormous_output_head_and_tail_are_kept(tmp_path: Path) -> None:
    outputs = outputs_in(tmp_path)
    text = outputs.read("ann", keep(outputs, "ann", "first" + "x" * (2 * LARGEST) + "last"))
    assert text is not None
    assert len(text) <= LARGEST
    assert text.startswith("first")
    assert text.endswith("last")
    assert " characters cut …" in text


@tool(toolset="files", preview=lambda arguments: "")
def speak(context: ToolContext, length: int) -> str:
    """Say much."""
    return "".join(f"{number:09}\n" for number in range(length // 10))


def test_a_long_result_says_what_was_cut_and_how_to_read_it(served: ToolContext) -> None:
    registry = Registry([speak, *Registry.builtin().select(["files"]).tools()])
    result = registry.run("speak", {"length": 300_000}, served)
    assert len(result) <= RESULT_LIMIT
    assert "\n… 250,200 of 300,000 characters cut; they begin at offset 24900: " in result
    name = result.partition('read_output(id="')[2].partition('"')[0]

    read = registry.run("read_output", {"id": name, "offset": 24900, "limit": 20}, served)
    assert read.startswith("000002490\n000002491\n\n[Characters 24,900 to 24,920 of 300,000;")


def test_without_a_home_it_only_says_what_was_cut(context: ToolContext) -> None:
    result = Registry([speak]).run("speak", {"length": 300_000}, context)
    assert "\n… 250,060 characters cut …\n" in result
    assert "read_output" not in result


def test_a_full_disk_costs_the_rest_and_not_the_result(
    served: ToolContext, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = Outputs(lambda: Path("/dev/null/outputs"), ToolSettings)
    context = replace(served, services=replace(served.services, outputs=blocked))
    result = Registry([speak]).run("speak", {"length": 300_000}, context)
    assert "\n… 250,060 characters cut …\n" in result
    assert "cannot be kept" in caplog.text


def test_users_of_one_key_are_told_apart_where_the_client_names_them() -> None:
    scopes = [Scope(owner="a"), Scope(owner="a", session_key="x"), Scope(owner="a\nx")]
    assert len({scope.holder for scope in scopes}) == 3
