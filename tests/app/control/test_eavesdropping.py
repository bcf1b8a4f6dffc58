"""Somebody who hears everything in NATS: what is live, and none of the secrets that are known."""

import base64
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from app.control.owners import PATIENCE, Place, Running, Turns
from app.control.test_far_windows import far_owner
from interrupts import until
from nats_server import NatsServers, running_nats

from holdfast.app.control.client import Owner, Unreachable
from holdfast.engine.cluster.door import Heard, connected
from holdfast.engine.cluster.door import NatsServers as Servers

pytestmark = [pytest.mark.anyio, pytest.mark.measured]
SECRET = "known-s3cret-of-the-shop"
MARK = "nothing-secret-at-all"


@pytest.fixture(scope="module")
def server() -> Generator[NatsServers]:
    with running_nats() as servers:
        yield servers


@asynccontextmanager
async def eavesdropping(url: str) -> AsyncGenerator[list[bytes]]:
    said: list[bytes] = []

    def hear(heard: Heard) -> None:
        headers = " ".join(f"{name}={value}" for name, value in heard.headers.items())
        said.append(f"{heard.subject} {heard.reply} {headers} ".encode() + heard.body)

    client = await connected(Servers(servers=(url,)), print)
    try:
        await client.subscribe(">", hear)
        yield said
    finally:
        await client.close()


@asynccontextmanager
async def reached(running: Running) -> AsyncGenerator[Owner]:
    """Where somebody hears everything, NATS does not say that nobody listens."""
    async with AsyncExitStack() as stack:
        while True:
            try:
                owner = await stack.enter_async_context(far_owner(running))
            except Unreachable:
                continue
            yield owner
            return


async def test_live_output_passes_without_the_secrets_that_are_known(
    tmp_path: Path, server: NatsServers
) -> None:
    (url,) = server.urls
    place = Place(tmp_path, url)
    place.variables["SHOP_API_KEY"] = SECRET
    half, rest = SECRET[:9], SECRET[9:]
    command = f"printf '{MARK} %s%s\\n' {half} {rest}; sleep 600"  # a call with it is refused
    turns: Turns = [
        {
            "pieces": [f"It is {MARK} and ", half, rest, " there"],
            "before": "go",
            "calls": [["shell", {"command": command}]],
        },
        {"pieces": [f"over, {SECRET}"]},
    ]
    async with eavesdropping(url) as said:
        with place.running(turns) as running:
            session = running.session_id
            with anyio.fail_after(PATIENCE):
                async with reached(running) as owner, aclosing(owner.watch(session)) as told:
                    async for _ in told:
                        place.release("go")
                        if any(b"shell" in one and b"intended" in one for one in said):
                            break
                async with reached(running) as owner:
                    while not (found := await owner.commands(session)):  # noqa: ASYNC110 - it happens in another process
                        await anyio.sleep(0.01)
                    (one,) = found
                    while not (await owner.tail(session, one.id)).stdout_tail:  # noqa: ASYNC110 - as above
                        await anyio.sleep(0.01)
                    tail = await owner.tail(session, one.id)
                    assert MARK in tail.stdout_tail
                    await until(lambda: any(MARK.encode() in one for one in said))
                    assert await owner.terminate(session, one.id)
            running.ended()
    everything = b"".join(said)
    assert everything.count(MARK.encode()) > 2  # it hears what is live
    assert b"live.text" in everything
    for form in (
        SECRET.encode(),
        base64.b64encode(SECRET.encode())[:-4],
        SECRET.encode().hex().encode(),
    ):
        assert form not in everything, [one for one in said if form in one]
