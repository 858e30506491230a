"""Only hosts on the public internet are public; whatever leads inside is not."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.fetching.addresses import is_public, literal

CLOSED = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.8.8.8",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::808:808",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
]


@pytest.mark.parametrize("address", CLOSED)
def test_an_address_that_leads_inside_is_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "93.184.215.14", "2606:4700::1111"])
def test_a_host_on_the_internet_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_in_ipv6_clothes_is_never_public(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    for clothes in ("::", "::ffff:0:0", "64:ff9b::"):
        assert not is_public(ipaddress.IPv6Address(int(ipaddress.IPv6Address(clothes)) | number))


@pytest.mark.parametrize("host", ["example.org", "127.1", "2130706433", "0x7f.1", ""])
def test_a_name_is_no_address(host: str) -> None:
    assert literal(host) is None


def test_an_address_is_one_with_or_without_brackets() -> None:
    assert literal("[::1]") == literal("::1") == ipaddress.ip_address("::1")
