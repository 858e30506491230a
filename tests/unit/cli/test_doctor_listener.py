"""Where the gateway would listen, and who could come in."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from hermes.settings.home_lock import HomeLock
from hermes.settings.model import ListenerSettings, NamedKey
from hermes.settings.paths import lock_file
from hermes_cli import doctor_listener
from hermes_cli.doctor_finding import Level

GOOD_KEY = "0f4b8a1c2d3e5f60"


def test_a_loopback_address_needs_no_key() -> None:
    listener = ListenerSettings()

    assert doctor_listener.key(listener).level is Level.OK
    assert "only programs on this machine" in doctor_listener.address(listener).detail


@pytest.mark.parametrize(
    ("key", "level"),
    [
        ("", Level.PROBLEM),
        ("secret", Level.WARNING),
        ("aaaaaaaaaaaaaaaaaaaaaaaa", Level.WARNING),
        (GOOD_KEY, Level.OK),
    ],
)
def test_an_open_address_needs_a_good_key_which_is_never_shown(key: str, level: Level) -> None:
    found = doctor_listener.key(ListenerSettings(host="192.0.2.1", key=key))

    assert found.level is level
    assert not key or key not in found.detail + found.fix


def test_an_address_of_every_network_says_so() -> None:
    assert "every network" in doctor_listener.address(ListenerSettings(host="0.0.0.0")).detail


def test_a_free_port_is_free(home: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number = probe.getsockname()[1]

    assert doctor_listener.port(ListenerSettings(port=number), home).level is Level.OK


def test_a_port_taken_by_a_stranger_is_a_problem(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        number = stranger.getsockname()[1]
        found = doctor_listener.port(ListenerSettings(port=number), home)

    assert found.level is Level.PROBLEM
    assert "taken by another program" in found.detail
    assert "API_SERVER_PORT" in found.fix


def test_a_port_taken_by_the_gateway_of_this_home_is_fine(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as own, HomeLock(lock_file(home)) as lock:
        number = own.getsockname()[1]
        lock.announce(f"http://127.0.0.1:{number}")
        found = doctor_listener.port(ListenerSettings(port=number), home)

    assert found.level is Level.OK
    assert f"http://127.0.0.1:{number}" in found.detail


def test_a_lock_left_by_a_gateway_that_ended_means_nothing(home: Path) -> None:
    with HomeLock(lock_file(home)):
        pass

    assert "free" in doctor_listener.port(ListenerSettings(port=0), home).detail


def test_an_address_of_another_machine_is_a_problem(home: Path) -> None:
    found = doctor_listener.port(ListenerSettings(host="192.0.2.1", port=8642), home)

    assert found.level is Level.PROBLEM
    assert "no address of this machine" in found.detail


def test_the_simple_one_of_several_keys_is_named_but_not_shown() -> None:
    strong = NamedKey(name="laptop", key="0123456789abcdef0123")
    found = doctor_listener.key(ListenerSettings(host="192.0.2.1", keys=(strong,)))
    assert (found.level, found.detail) == (Level.OK, "required, and hard to guess (keys: laptop)")

    weak = NamedKey(name="phone", key="hunter2")
    found = doctor_listener.key(ListenerSettings(host="192.0.2.1", keys=(strong, weak)))
    assert found.level is Level.WARNING
    assert found.detail == "so simple that it can be guessed: phone"
