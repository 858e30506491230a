"""A process is told from the next one with its number."""

from __future__ import annotations

import os

import pytest

from hermes.processes.identity import identity, is_alive


def test_we_are_alive() -> None:
    assert is_alive(identity(os.getpid()))


def test_somebody_else_with_our_number_is_not_us() -> None:
    boot, pid, born = identity(os.getpid()).split()
    assert not is_alive(f"{boot} {pid} {int(born) - 1}")
    assert not is_alive(f"another-boot {pid} {born}")


@pytest.mark.parametrize("text", ["", "boot", "boot x 1", "boot 1 1", f"boot {10**30} 1"])
def test_a_line_that_is_no_identity_belongs_to_nobody(text: str) -> None:
    assert not is_alive(text)
