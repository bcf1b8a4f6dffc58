"""Bodies unpacked piece by piece, and never further than wanted."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.execution.network.aiohttp_exchange import fed
from holdfast.execution.network.unpacking import Unpackable, Unpacked


def _raw(body: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(body) + engine.flush()


def _two_parts(body: bytes) -> bytes:
    return gzip.compress(body[: len(body) // 2]) + gzip.compress(body[len(body) // 2 :])


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "X-GZIP ": gzip.compress,
    "gzip in parts": _two_parts,
    "gzip and more": lambda body: gzip.compress(body) + b"\x1fmore",
    "deflate": zlib.compress,
    "deflate raw": _raw,
    "deflate and more": lambda body: zlib.compress(body) + b"more",
    "": bytes,
    "identity": bytes,
    "br": bytes,
}


@given(
    st.sampled_from(sorted(PACKINGS)),
    st.binary(max_size=300) | st.integers(0, 300).map(lambda count: b"x" * count),
    st.integers(0, 310),
    st.integers(1, 40),
)
def test_a_body_comes_out_as_it_went_in_up_to_the_limit(
    packing: str, body: bytes, most: int, step: int
) -> None:
    packed = PACKINGS[packing](body)
    unpacked = Unpacked(packing.split(" in")[0].split(" and")[0].removesuffix(" raw"), most)
    for start in range(0, len(packed), step):
        if not unpacked.feed(packed[start : start + step]):
            break
    assert unpacked.body() == body[:most]
    assert unpacked.truncated == (len(body) > most)
    assert unpacked.packed == packing.lower().startswith(("gzip", "x-gzip", "deflate"))


@given(st.sampled_from(["gzip", "deflate"]), st.binary(min_size=1, max_size=60))
def test_nonsense_is_told_or_short(coding: str, nonsense: bytes) -> None:
    unpacked = Unpacked(coding, 100)
    try:
        unpacked.feed(nonsense)
        assert len(unpacked.body()) <= 100
    except Unpackable as problem:
        assert "packed as" in str(problem) or "too early" in str(problem)  # noqa: PT017 - either is fine


def test_an_end_that_is_missing_is_told() -> None:
    unpacked = Unpacked("gzip", 100)
    assert unpacked.feed(gzip.compress(b"hello")[:-3])
    with pytest.raises(Unpackable, match="too early"):
        unpacked.body()
    assert Unpacked("gzip", 100).body() == b""


def test_a_bomb_does_not_go_off() -> None:
    bomb = gzip.compress(b"\0" * (100 << 20))
    assert len(bomb) < 1 << 20
    unpacked = Unpacked("gzip", 1 << 20)
    tracemalloc.start()
    try:
        assert not unpacked.feed(bomb)
        assert len(unpacked.body()) == 1 << 20
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
    assert unpacked.truncated


def test_parts_of_nothing_are_not_read_without_end() -> None:
    most, piece = 1 << 20, gzip.compress(b"") * 1_000
    unpacked, read = Unpacked("gzip", most), 0
    while unpacked.feed(piece):
        read += len(piece)
        assert read <= 2 * most + 64 * 1024
    assert read > most
    assert (unpacked.body(), unpacked.truncated) == (b"", True)


def test_what_follows_the_last_part_is_not_read_without_end() -> None:
    unpacked = Unpacked("gzip", 100)
    assert unpacked.feed(gzip.compress(b"hello") + b"more")
    while unpacked.feed(b"x" * 10_000):
        pass
    assert (unpacked.body(), unpacked.truncated) == (b"hello", True)


def test_however_many_parts_a_piece_has_it_is_looked_over_once() -> None:
    """Copying what follows at each of them takes minutes, not a test's time."""
    count = 500_000
    unpacked = Unpacked("gzip", 1 << 30)
    assert unpacked.feed(gzip.compress(b"") * count + gzip.compress(b"x"))
    assert unpacked.body() == b"x"


@pytest.mark.anyio
async def test_others_have_their_turn_while_a_piece_is_unpacked() -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    waiting = asyncio.create_task(others())
    unpacked = Unpacked("gzip", 1 << 20)
    assert await fed(unpacked, gzip.compress(b"") * 50_000)
    waiting.cancel()
    assert turns >= 10
    assert not await fed(unpacked, gzip.compress(b"x" * (1 << 20) + b"x") * 2)


def test_a_second_part_is_recognised_by_more_than_its_first_byte() -> None:
    first, second = gzip.compress(b"one "), gzip.compress(b"two")
    unpacked = Unpacked("gzip", 100)
    for piece in (first + second[:1], second[1:]):
        assert unpacked.feed(piece)
    assert unpacked.body() == b"one two"
