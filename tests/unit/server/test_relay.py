"""Who may use the token of a job, and where it is found."""

from __future__ import annotations

import pytest

from hermes.server.relay import is_of_this_machine, job_token


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])
def test_loopback_is_this_machine(peer: str) -> None:
    assert is_of_this_machine(peer, {})


@pytest.mark.parametrize("peer", ["10.0.0.7", "192.0.2.1", "::ffff:10.0.0.7", "2001:db8::1"])
def test_other_addresses_are_not(peer: str) -> None:
    assert not is_of_this_machine(peer, {})


@pytest.mark.parametrize("peer", [None, "", "localhost"])
def test_what_is_no_address_is_not(peer: str | None) -> None:
    assert not is_of_this_machine(peer, {})


def test_a_proxy_on_this_machine_speaks_for_others() -> None:
    assert not is_of_this_machine("127.0.0.1", {"X-Forwarded-For": "127.0.0.1"})


@pytest.mark.parametrize(
    ("headers", "found"),
    [
        ({"Authorization": "Bearer hgw-job-a"}, "hgw-job-a"),
        ({"Authorization": "bearer  hgw-job-a "}, "hgw-job-a"),
        ({"x-api-key": "hgw-job-b"}, "hgw-job-b"),
        ({"Authorization": "Bearer sk-key", "x-api-key": "hgw-job-b"}, "hgw-job-b"),
        ({"Authorization": "Basic hgw-job-a"}, None),
        ({"Authorization": "hgw-job-a"}, None),
        ({"Authorization": "Bearer sk-key"}, None),
        ({}, None),
    ],
)
def test_a_token_is_known_by_how_it_begins(headers: dict[str, str], found: str | None) -> None:
    assert job_token(headers) == found
