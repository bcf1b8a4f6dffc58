"""A session in the middle of a reply, in this process, and clients that write what they like."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from agents_at_work import Desk, at_work, home_of
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream
from interrupts import until

from holdfast.app.control import places, wire
from holdfast.contract.journal import Journal
from holdfast.contract.model import Heard, ModelReply, ModelRequest, TextDelta
from holdfast.execution.local_sockets import SocketFolder

PATIENCE = 10.0
LEFT = (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError)
"""What a client meets that was let go."""


class Held:
    """A model that says what it is told to say, when it is told."""

    name = provider = "held"
    window, max_output_tokens = 128_000, 8_192

    def __init__(self) -> None:
        self.goes = anyio.Event()
        self.heard: Heard | None = None

    async def complete(self, request: ModelRequest, heard: Heard | None = None, /) -> ModelReply:
        self.heard = heard
        await self.goes.wait()
        return ModelReply(text="done")

    def says(self, text: str) -> None:
        assert self.heard is not None
        self.heard(TextDelta(text))

    async def close(self) -> None:
        """Nothing is held."""


class Client:
    """Somebody at the other end, who may write whatever they like."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream
        self._read = BufferedByteReceiveStream(stream)

    async def writes(self, *lines: bytes | wire.Request) -> None:
        told = [one if isinstance(one, bytes) else wire.line_of(one) for one in lines]
        await self.stream.send(b"".join(told))

    async def reads(self) -> dict[str, Any]:
        return json.loads(await self._read.receive_until(b"\n", wire.MOST_LINE_BYTES))

    async def refused(self) -> str:
        """Why it was let go."""
        told = await self.reads()
        assert told["kind"] == "refused"
        with pytest.raises(LEFT):
            await self.reads()
        return told["problem"]


class Windows:
    """A session that runs, and who connects to it."""

    def __init__(self, desk: Desk, root: Path, model: Held | None = None) -> None:
        self.desk = desk
        self.root = root
        self.model = model or Held()
        (self.folder,) = places.folders(home_of(root))

    @property
    def session(self) -> str:
        return self.desk.session.id

    async def journal(self) -> Journal:
        log = self.desk.holdfast.parts.log
        assert log is not None
        return await log.journal()

    @asynccontextmanager
    async def client(self, *, greets: bool = True) -> AsyncGenerator[Client]:
        folder = SocketFolder(self.folder)
        try:
            (name,) = folder.names()
            async with await folder.connect(name) as stream:
                client = Client(stream)
                if greets:
                    await client.writes(wire.Hello(version=wire.VERSION))
                    assert (await client.reads())["kind"] == "welcome"
                yield client
        finally:
            folder.close()


@asynccontextmanager
async def running(tmp_path: Path) -> AsyncGenerator[Windows]:
    """A session in the middle of a reply, until the block ends; it has to end well."""
    model = Held()
    (folder,) = places.folders(home_of(tmp_path))
    with anyio.fail_after(PATIENCE):
        async with at_work(tmp_path, [], equipment={"model": model}) as desk:
            async with anyio.create_task_group() as group:
                group.start_soon(desk.told, "go")
                await until(lambda: model.heard is not None and bool([*folder.glob("[!.]*")]))
                yield Windows(desk, tmp_path, model)
                model.goes.set()
            assert desk.session.last is not None
            assert desk.session.last.ended == "final_response"
