"""Whatever was packed comes out again, however it arrives; more than was allowed never does."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.fetching.unpacking import TooLarge, Unpacker

PACKINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "plain": ("", bytes),
    "gzip": ("gzip", gzip.compress),
    "gzip, padded": ("gzip", lambda data: gzip.compress(data, mtime=0) + bytes(7)),
    "gzip in parts": (
        "x-gzip",
        lambda data: gzip.compress(data[:9], mtime=0) + gzip.compress(data[9:], mtime=0),
    ),
    "deflate": ("deflate", zlib.compress),
}


def unpacked(encoding: str, pieces: list[bytes], most: int) -> bytes:
    unpacker = Unpacker(encoding, most)
    for piece in pieces:
        unpacker.add(piece)
    return unpacker.finish()


@pytest.mark.parametrize("packing", PACKINGS)
@given(data=st.binary(max_size=300), size=st.integers(1, 40))
def test_what_was_packed_comes_out_again_in_pieces_of_any_size(
    packing: str, data: bytes, size: int
) -> None:
    encoding, pack = PACKINGS[packing]
    packed = pack(data)
    pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
    assert unpacked(encoding, pieces, 1000) == data


@given(data=st.binary(min_size=1, max_size=300))
def test_a_stream_without_its_header_is_unpacked_too(data: bytes) -> None:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    assert unpacked("deflate", [packer.compress(data) + packer.flush()], 1000) == data


@pytest.mark.parametrize("packing", PACKINGS)
@given(more=st.integers(1, 100_000))
def test_nothing_over_the_limit_is_unpacked(packing: str, more: int) -> None:
    encoding, pack = PACKINGS[packing]
    unpacker = Unpacker(encoding, 1000)
    with pytest.raises(TooLarge):
        unpacker.add(pack(bytes(1000 + more)))
    assert len(unpacker.unpacked) <= 1001


@pytest.mark.parametrize(
    "data", [b"no gzip at all", gzip.compress(b"x" * 100, mtime=0)[:-12], b"\x1f"]
)
def test_what_is_damaged_or_cut_short_is_no_text(data: bytes) -> None:
    with pytest.raises(ValueError, match="it "):
        unpacked("gzip", [data], 1000)


def test_an_unknown_packing_is_refused() -> None:
    with pytest.raises(ValueError, match="br"):
        Unpacker("br", 1000)
