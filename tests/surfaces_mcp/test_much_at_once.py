"""Much at once over a pipe: it is bounded, nothing stands still, and what was asked is answered."""

import json
import os
import signal
import threading
from pathlib import Path

import anyio
import pytest
from mcp_pipe import Piped

from holdfast.surfaces.mcp.streams import Inbox, Outbox

pytestmark = pytest.mark.timeout(60)

MANY = 1200


def listing(own: int) -> bytes:
    asked: dict[str, object] = {"jsonrpc": "2.0", "id": own, "method": "tools/list", "params": {}}
    return json.dumps(asked).encode() + b"\n"


def memory(pid: int) -> int:
    """Resident, in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("it has ended")


def test_many_long_answers_are_all_given_to_who_reads(piped: Piped) -> None:
    piped.greet()
    piped.write(b"".join(listing(own) for own in range(1, MANY + 1)))
    heard = {piped.hear()["id"] for _ in range(MANY)}
    assert heard == set(range(1, MANY + 1))
    assert memory(piped.process.pid) < 200 * 1024 * 1024


@pytest.mark.measured
def test_who_does_not_read_keeps_nothing_but_himself(piped: Piped) -> None:
    piped.greet()
    writing = threading.Thread(target=_write_much, args=(piped,), daemon=True)
    writing.start()
    writing.join(3)
    assert memory(piped.process.pid) < 150 * 1024 * 1024
    piped.process.send_signal(signal.SIGTERM)
    assert piped.process.wait(20) == 0


def _write_much(piped: Piped) -> None:
    try:
        for own in range(1, 20 * MANY):
            os.write(piped.stdin.fileno(), listing(own))
    except OSError:
        pass


@pytest.mark.measured
def test_what_is_asked_just_before_the_end_is_answered(piped: Piped) -> None:
    piped.greet()
    piped.say({"jsonrpc": "2.0", "id": 1, "method": "resources/list", "params": {}})
    piped.stdin.close()
    assert piped.hear() == {"jsonrpc": "2.0", "id": 1, "result": {"resources": []}}
    assert piped.process.wait(20) == 0


class _Slow:
    """Takes a chunk, and everything of it later."""

    def __init__(self, outbox: Outbox) -> None:
        self.outbox = outbox
        self.waiting: list[bytes] = []
        self.taken: list[bytes] = []

    def heard(self, chunk: bytes) -> None:
        self.waiting += chunk.splitlines()

    def go_on(self) -> bool:
        while self.waiting and not self.outbox.is_full:
            line = self.waiting.pop(0)
            self.taken.append(line)
            self.outbox.finish(line * 200_000)
        return not self.waiting


@pytest.mark.anyio
async def test_a_file_is_taken_as_fast_as_its_answers_are_read(tmp_path: Path) -> None:
    source = tmp_path / "asked"
    lines = [b"%04d" % number for number in range(40)]
    source.write_bytes(b"\n".join(lines))
    reading, writing = os.pipe()
    received = bytearray()

    def read() -> None:
        while piece := os.read(reading, 1 << 20):
            received.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    outbox = Outbox(writing, lambda: None)
    taking = _Slow(outbox)
    with source.open("rb") as file:
        with anyio.fail_after(30):
            await Inbox(file.fileno(), outbox, taking).run()
            await outbox.flushed()
    outbox.close()
    os.close(writing)
    reader.join(20)
    os.close(reading)
    assert taking.taken == lines
    assert bytes(received) == b"".join(line * 200_000 + b"\n" for line in lines)
