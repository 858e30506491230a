"""Who is cut off for reading nothing."""

from __future__ import annotations

import asyncio

from hermes.server.stalled import LOOKS, StallWatch


class Unread(asyncio.WriteTransport):
    """A connection with so much that its client has not read."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size
        self.is_cut = False

    def get_write_buffer_size(self) -> int:
        return self.size

    def abort(self) -> None:
        self.is_cut = True


def watched(*transports: Unread) -> StallWatch:
    return StallWatch(lambda: transports, 60.0)


def test_a_client_that_reads_nothing_is_cut_off_in_time() -> None:
    client = Unread(100)
    watch = watched(client)
    for now in (0.0, 30.0, 59.9):
        watch.look(now)
        client.size += 10  # keepalives go on
        assert not client.is_cut
    watch.look(60.0)
    assert client.is_cut


def test_a_client_that_reads_anything_at_all_is_given_time_again() -> None:
    client = Unread(1000)
    watch = watched(client)
    for now in range(0, 600, 50):
        watch.look(float(now))
        client.size -= 1
    assert not client.is_cut


def test_a_client_with_nothing_to_read_is_left_alone() -> None:
    idle = Unread(0)
    watch = watched(idle)
    for now in (0.0, 100.0, 200.0):
        watch.look(now)
    assert not idle.is_cut
    idle.size = 5
    watch.look(300.0)
    assert not idle.is_cut


def test_connections_that_are_gone_are_forgotten() -> None:
    clients = [Unread(5)]
    watch = StallWatch(lambda: clients, 60.0)
    watch.look(0.0)
    gone = clients.pop()
    watch.look(30.0)
    clients.append(gone)
    watch.look(61.0)
    assert not gone.is_cut


async def test_it_looks_again_and_again() -> None:
    looks = asyncio.Semaphore(0)

    def transports() -> list[Unread]:
        looks.release()
        return []

    watch = StallWatch(transports, 0.001 * LOOKS)
    watch.start()
    async with asyncio.timeout(5):
        for _ in range(5):
            await looks.acquire()
    watch.stop()
