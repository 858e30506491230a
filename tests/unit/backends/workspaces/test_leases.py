"""One job at a time in a shared folder, first come, first served."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hermes.backends.workspaces.leases import Lease, Leases


async def test_who_comes_first_is_served_first(tmp_path: Path) -> None:
    leases = Leases()
    served: list[int] = []

    async def work(number: int) -> None:
        lease = await leases.take(tmp_path)
        served.append(number)
        await asyncio.sleep(0)
        lease.give_back()

    await asyncio.gather(*(work(number) for number in range(5)))
    assert served == [0, 1, 2, 3, 4]


async def test_one_folder_under_two_names_is_one_folder(tmp_path: Path) -> None:
    leases = Leases()
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    first = await leases.take(tmp_path / "real")
    second = asyncio.ensure_future(leases.take(tmp_path / "link"))
    other = await leases.take(tmp_path)
    assert not second.done()
    first.give_back()
    assert isinstance(await asyncio.wait_for(second, 10), Lease)
    other.give_back()


async def test_who_stops_waiting_is_not_waited_for(tmp_path: Path) -> None:
    leases = Leases()
    first = await leases.take(tmp_path)
    impatient = asyncio.ensure_future(leases.take(tmp_path))
    patient = asyncio.ensure_future(leases.take(tmp_path))
    await asyncio.sleep(0)
    impatient.cancel()
    first.give_back()
    lease = await asyncio.wait_for(patient, 10)
    assert impatient.cancelled()
    lease.give_back()


async def test_giving_back_twice_takes_nothing_from_the_next(tmp_path: Path) -> None:
    leases = Leases()
    first = await leases.take(tmp_path)
    first.give_back()
    await leases.take(tmp_path)
    first.give_back()
    third = asyncio.ensure_future(leases.take(tmp_path))
    await asyncio.sleep(0)
    assert not third.done()
    third.cancel()
