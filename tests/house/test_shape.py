"""The shape report counts what it says it counts."""

from __future__ import annotations

import re

from tests.house.shape import Length, floors, function_lengths, report

_SOURCE = """
class Thing:
    @property
    def short(self):
        return 1

async def long():
    first = 1

    return first
"""


def test_functions_and_methods_are_measured_without_decorators() -> None:
    assert function_lengths(_SOURCE, "thing.py") == [
        Length(4, "thing.py:7 long"),
        Length(2, "thing.py:4 short"),
    ]


def test_the_floors_are_those_of_the_import_contract() -> None:
    assert floors()[0] == "hermes_cli.main"
    assert floors()[-1] == "hermes.core"


def test_the_report_names_a_file_a_function_and_the_floors() -> None:
    text = report()

    assert re.search(r"files, \d+ lines; median \d+, .*\n +\d+  \w+/\S+\.py\n", text)
    assert re.search(r"functions, \d+ lines; median \d+, .*\n +\d+  \w+/\S+\.py:\d+ \w+\n", text)
    assert "floors (imports only go down)\n  hermes_cli.main" in text
