"""Captured output: nothing uncounted, memory flat, the whole in a file, secrets never kept."""

import asyncio
import fcntl
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.contract.shell import Printed
from holdfast.execution import spool as spooling
from holdfast.execution.processes import capture as capturing
from holdfast.execution.processes import printout
from holdfast.execution.processes.capture import HEAD_BYTES, TAIL_BYTES, Capture, Captured, Scrubber
from holdfast.execution.spool import Spool, SpoolFile


def silent() -> None:
    """Nobody listens."""


def spool_in(folder: Path, quota: int = 1 << 40) -> Spool:
    def create() -> SpoolFile:
        path = folder / f"out{len(list(folder.iterdir()))}"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        return SpoolFile(str(path), handle, quota)

    return Spool(create, quota)


async def captured(
    spool: Spool,
    pieces: Sequence[tuple[capturing.StreamName, bytes]],
    scrubber: Callable[[], Scrubber] | None = None,
) -> Captured:
    """What comes of pieces written one after the other."""
    capture = Capture(spool, scrubber, silent)
    pipes = {name: capture.pipe(name) for name in ("stdout", "stderr")}

    def write() -> None:
        for name, piece in pieces:
            left = memoryview(piece)
            while left:
                left = left[os.write(pipes[name], left) :]

    await asyncio.to_thread(write)
    for pipe in pipes.values():
        os.close(pipe)
    assert await capture.wait_closed(20)
    found = capture.so_far()
    capture.close()
    return found._replace(path=capture.so_far().path)


def check_stream(found: Printed, whole: bytes) -> None:
    assert found.total == len(whole)
    assert found.head == whole[:HEAD_BYTES]
    assert found.tail == whole[HEAD_BYTES:][-TAIL_BYTES:]
    assert found.complete == (len(whole) <= HEAD_BYTES + TAIL_BYTES)


SIZES = st.sampled_from([1, 5, 4_000, 65_536, 70_000, 300_000])
NAMES = st.sampled_from(["stdout", "stderr"])


@given(st.lists(st.tuples(NAMES, SIZES), max_size=8))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_every_byte_is_kept_and_counted(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[tuple[capturing.StreamName, int]]
) -> None:
    folder = tmp_path_factory.mktemp("spool")
    letters = iter(b"abcdefgh")
    pieces: list[tuple[capturing.StreamName, bytes]] = [
        (name, bytes([next(letters)]) * size) for name, size in sizes
    ]
    found = await captured(spool_in(folder), pieces)
    wholes = {
        name: b"".join(piece for other, piece in pieces if other == name)
        for name in ("stdout", "stderr")
    }
    check_stream(found.stdout, wholes["stdout"])
    check_stream(found.stderr, wholes["stderr"])
    assert found.dropped == 0
    total = sum(map(len, wholes.values()))
    assert sum(count for _, count in found.pieces) == total
    assert found.path is not None or (found.stdout.complete and found.stderr.complete)
    if found.path is not None:
        assert_in_order(Path(found.path).read_bytes(), found, wholes)


def assert_in_order(stored: bytes, found: Captured, wholes: dict[str, bytes]) -> None:
    """The file holds the pieces in the order they are told to have come."""
    apart = {"stdout": b"", "stderr": b""}
    here = 0
    for name, count in found.pieces:
        apart[name] += stored[here : here + count]
        here += count
    assert here == len(stored)
    assert apart == wholes


async def test_what_is_past_the_quota_is_read_and_counted(tmp_path: Path) -> None:
    quota = 500_000
    found = await captured(spool_in(tmp_path, quota), [("stdout", b"x" * 3_000_000)])
    assert found.stdout.total == 3_000_000
    assert found.path is not None
    assert Path(found.path).stat().st_size == quota
    assert found.dropped == 3_000_000 - quota


@pytest.mark.parametrize("trouble", ["full", "none", "broken"])
async def test_a_disk_that_keeps_nothing_stops_nothing(tmp_path: Path, trouble: str) -> None:
    def create() -> SpoolFile | None:
        match trouble:
            case "full":
                return SpoolFile("/dev/full", os.open("/dev/full", os.O_WRONLY), 1 << 40)
            case "none":
                return None
            case _:
                raise PermissionError("no")

    found = await captured(Spool(create, 1 << 40), [("stdout", b"y" * 2_000_000)])
    check_stream(found.stdout, b"y" * 2_000_000)
    assert found.dropped == 2_000_000 - HEAD_BYTES - TAIL_BYTES


class TakesOutX:
    """Holds a byte back, and takes every x away."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """All but the last byte."""
        held, self._held = self._held, piece[-1:]
        return (held + piece[:-1]).replace(b"x", b"")

    def rest(self) -> bytes:
        """The last byte."""
        return self._held.replace(b"x", b"")


async def test_secrets_are_taken_out_before_anything_is_kept(tmp_path: Path) -> None:
    pieces: list[tuple[capturing.StreamName, bytes]] = [
        ("stdout", b"axb" * 300_000),
        ("stderr", b"xcx"),
    ]
    found = await captured(spool_in(tmp_path), pieces, TakesOutX)
    assert (found.stderr.head, found.stderr.total) == (b"c", 1)
    assert found.stdout.total == 600_000
    assert found.path is not None
    assert b"x" not in Path(found.path).read_bytes()
    assert b"x" not in found.stdout.head + found.stdout.tail


async def test_so_much_changing_of_streams_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printout, "MOST_PIECES", 3)
    capture = Capture(spool_in(tmp_path), None, silent)
    pipes = {name: capture.pipe(name) for name in ("stdout", "stderr")}
    for number in range(8):
        os.write(pipes["stdout" if number % 2 else "stderr"], b"z")
        while sum((capture.so_far().stdout.total, capture.so_far().stderr.total)) <= number:
            await asyncio.sleep(0)
    for pipe in pipes.values():
        os.close(pipe)
    assert await capture.wait_closed(10)
    # The fourth change is not remembered, and nothing after it, though stderr speaks again.
    assert capture.so_far().pieces == (("stderr", 1), ("stdout", 1), ("stderr", 1))
    assert capture.printout.last_stream == "stdout"
    capture.printout.begin_again(spool_in(tmp_path))
    capture.printout.take("stdout", b"anew")
    assert capture.so_far().pieces == (("stdout", 4),)
    capture.close()


async def test_closing_early_lets_go_of_the_pipes(tmp_path: Path) -> None:
    capture = Capture(spool_in(tmp_path), None, silent)
    writing = capture.pipe("stdout")
    os.write(writing, b"1")
    capture.close()
    with pytest.raises(BrokenPipeError):
        os.write(writing, b"2")
    os.close(writing)
    assert capture.so_far().closed


async def test_draining_waits_for_what_is_being_written(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def create() -> SpoolFile:
        begun.set()
        assert go_on.wait(10)
        path = tmp_path / "out"
        return SpoolFile(str(path), os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), 1 << 30)

    reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 1 << 20)
    capture = Capture(Spool(create, 1 << 30), None, silent)
    capture.read_from("stdout", reading)
    os.write(writing, b"a" * 600_000)
    while not begun.is_set():
        await asyncio.sleep(0.001)
    os.write(writing, b"b" * 300_000)
    draining = asyncio.create_task(capture.drain())
    await asyncio.sleep(0.05)
    assert not draining.done()
    go_on.set()
    await draining
    assert capture.so_far().stdout.total == 900_000
    assert capture.printout.last("stdout", 3) == b"bbb"
    assert capture.printout.last("stderr", 3) == b""
    capture.close()
    os.close(writing)
    os.close(reading)


@given(st.lists(st.integers(0, 40_000), max_size=12), st.integers(1, 100_000))
def test_the_last_of_a_stream_is_its_end(sizes: list[int], count: int) -> None:
    stream = printout.Stream(None)
    whole = b""
    for number, size in enumerate(sizes):
        piece = bytes([number]) * size
        stream.keep(piece)
        whole += piece
    kept = whole[-min(count, TAIL_BYTES) :]
    assert stream.last(count)[-len(kept) :] == kept
    assert whole.endswith(stream.last(count))


async def test_closing_before_the_disk_was_reached_loses_nothing(tmp_path: Path) -> None:
    told: list[int] = []
    path = tmp_path / "out"

    def create() -> SpoolFile:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        return SpoolFile(str(path), handle, 1 << 30, told.append)

    go_on = threading.Event()
    with ThreadPoolExecutor(1) as only_one:
        asyncio.get_running_loop().set_default_executor(only_one)
        busy = asyncio.create_task(asyncio.to_thread(go_on.wait, 10))
        await asyncio.sleep(0)
        capture = Capture(Spool(create, 1 << 30), HoldsTheLast, silent)
        writing = capture.pipe("stdout")
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 1 << 20)
        while capture.so_far().stdout.total < 299_999:
            if not capture.so_far().stdout.total:
                os.write(writing, b"a" * 300_000)
            await asyncio.sleep(0.001)
        capture.close()
        go_on.set()
        await busy
    os.close(writing)
    assert path.read_bytes() == b"a" * 300_000
    assert told == [300_000]


class HoldsTheLast(TakesOutX):
    """Takes out nothing that is printed here, and holds a byte back."""


def test_what_comes_while_the_rest_is_taken_to_the_disk_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = spool_in(tmp_path)
    large = b"b" * 300_000
    takers: list[threading.Thread] = []

    def hooked() -> bytearray:
        """In the moment between taking what waits and leaving an empty place."""
        if not takers:
            takers.append(threading.Thread(target=spool.take, args=(large,)))
            takers[0].start()
            takers[0].join(0.2)
        return bytearray()

    spool.take(b"a" * 300_000)
    monkeypatch.setattr(spooling, "bytearray", hooked, raising=False)
    spool.write()
    takers[0].join(10)
    spool.close()
    assert spool.path is not None
    assert Path(spool.path).read_bytes() == b"a" * 300_000 + large


async def test_reading_goes_on_only_after_the_last_write(tmp_path: Path) -> None:
    """What is being written lies where the next piece would be read to."""
    gates = [threading.Event() for _ in range(4)]
    written: list[int] = []

    class Slow(Spool):
        """Each write waits for its gate."""

        def write(self) -> None:
            gate = gates[len(written)]
            written.append(0)
            assert gate.wait(10)
            super().write()

    path = tmp_path / "out"
    file = SpoolFile(str(path), os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), 1 << 30)
    capture = Capture(Slow(lambda: file, 1 << 30, held=1), HoldsTheLast, silent)
    writing = capture.pipe("stdout")
    os.write(writing, b"ab")
    while capture.so_far().stdout.total < 1:
        await asyncio.sleep(0.001)
    await capture.drain()  # the byte held back is taken while the first is being written
    while len(written) < 2:
        await asyncio.sleep(0.001)
    os.write(writing, b"cd")
    gates[0].set()
    await asyncio.sleep(0.1)
    assert capture.so_far().stdout.total == 2
    for gate in gates:
        gate.set()
    while capture.so_far().stdout.total < 3:
        await asyncio.sleep(0.001)
    capture.close()
    os.close(writing)
    assert path.read_bytes() == b"abcd"


def test_a_piece_that_nobody_wrote_comes_before_the_next(tmp_path: Path) -> None:
    spool = spool_in(tmp_path)
    pieces = [letter * 300_000 for letter in (b"a", b"b")] + [b"c"]
    for piece in pieces:
        assert spool.take(piece)
    spool.close()
    spool.write()
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"".join(pieces)]


async def test_what_was_held_back_is_written_with_the_rest(tmp_path: Path) -> None:
    written = threading.Event()

    def create() -> SpoolFile:
        path = tmp_path / "out"
        return SpoolFile(str(path), os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), 1 << 30)

    class Told(Spool):
        def write(self) -> None:
            super().write()
            if (tmp_path / "out").read_bytes() == b"ab":
                written.set()

    reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    capture = Capture(Told(create, 1 << 30, held=1), TakesOutX, silent)
    capture.read_from("stdout", reading)
    os.write(writing, b"axb")
    await capture.drain()
    assert capture.so_far().stdout.head == b"ab"
    assert await asyncio.to_thread(written.wait, 10)
    capture.close()
    os.close(writing)
    os.close(reading)


async def test_a_pipe_that_was_drained_meanwhile_is_read_later(tmp_path: Path) -> None:
    capture = Capture(spool_in(tmp_path), None, silent)
    loop = asyncio.get_running_loop()
    before, told = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    drained: list[bytes] = []

    def drain() -> None:
        loop.remove_reader(before)
        with pytest.raises(StopIteration):
            capture.drain().send(None)
        drained.append(capture.so_far().stdout.head)

    loop.add_reader(before, drain)
    writing = capture.pipe("stdout")
    os.write(told, b"x")
    os.write(writing, b"a")
    await asyncio.sleep(0.05)
    assert drained == [b"a"]
    os.write(writing, b"b")
    os.close(writing)
    assert await capture.wait_closed(10)
    assert capture.so_far().stdout.head == b"ab"
    capture.close()
    os.close(before)
    os.close(told)
