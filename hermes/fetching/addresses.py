"""Which addresses are the public internet, and which lead into somebody's own network."""

from __future__ import annotations

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_CLOSED = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "100.64.0.0/10",  # shared by carriers, and where some clouds keep their metadata
        "168.63.129.16/32",  # a public number that is a cloud's own service on its machines
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "240.0.0.0/4",
        # These carry an IPv4 address inside; who translates them decides where they lead.
        "::/96",
        "::ffff:0:0/96",
        "::ffff:0:0:0/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2001::/32",
        "2002::/16",
        "fec0::/10",
    )
)


def is_public(address: Address) -> bool:
    """False for everything that is not plainly a host on the public internet."""
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    return not any(address in network for network in _CLOSED if network.version == address.version)


def literal(host: str) -> Address | None:
    """The address that a host already is; None for a name."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
