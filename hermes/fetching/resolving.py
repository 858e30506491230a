"""Names to addresses, once per connection and checked: what was looked at is what is connected to.

A name may have another address a moment later; nobody asks again.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable

from aiohttp.abc import AbstractResolver, ResolveResult

from hermes.fetching.addresses import Address

LookUp = Callable[[str], Awaitable[list[str]]]
"""All addresses of a name; raises OSError when there are none."""


class AddressRefused(OSError):
    """The name leads to an address that must not be reached."""


async def look_up(host: str) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(sockaddr[0]) for *_, sockaddr in found]


class CheckedResolver(AbstractResolver):
    """Gives aiohttp's connector the addresses it may connect to, or refuses the name."""

    def __init__(self, look_up: LookUp, admits: Callable[[Address], bool]) -> None:
        self._look_up = look_up
        self._admits = admits

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        addresses = list(dict.fromkeys(await self._look_up(host)))
        if not addresses:
            raise OSError(f"{host} has no address")
        # One wrong address refuses the name: whoever mixes them is trying something.
        if not all(self._admits(ipaddress.ip_address(address)) for address in addresses):
            raise AddressRefused(host)
        return [_entry(host, address, port) for address in addresses]

    async def close(self) -> None:
        """Nothing is held."""


def _entry(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=0,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )
