"""What `holdfast serve` bears: many live streams, many calls, and how soon an answer is heard.

A server as a process of its own, asked by this one over loopback: so many streams of events are
open, most of them of sessions of their own whose agents run now and then, the others of the
workbench, in which so many calls a second are settled. Then calls that wait for leave are allowed,
one after the other, in the workbench and in a session that nobody runs meanwhile.

    python bench/serving.py [--quick]      prints JSON
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

STREAMS, QUICK_STREAMS = 200, 20
OF_THE_WORKBENCH = 4
CALLS_A_SECOND, QUICK_CALLS = 500, 100
SECONDS, QUICK_SECONDS = 60, 3
APPROVALS, QUICK_APPROVALS = 50, 5
CLIENTS = 16
LOOK_SECONDS = 0.5
HOLDFAST = Path(sys.executable).with_name("holdfast")
API = "/api/v1"
TOOLS = '''
from holdfast import tool

@tool
def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}

@tool(permission_policy="always_ask")
def wipe(path: str) -> str:
    """Remove a thing (not really)."""
    return f"wiped {path}"
'''


class Told:
    """What was seen."""

    def __init__(self, wanted: int) -> None:
        self.events = 0
        self.wrong: list[str] = []
        self.late: list[float] = []
        self.rss: list[int] = []
        self.intended: dict[str, float] = {}
        self.all_open = asyncio.Event()
        self._missing = wanted

    def is_open(self) -> None:
        """One more stream is."""
        self._missing -= 1
        if self._missing <= 0:
            self.all_open.set()


def main() -> None:
    quick = "--quick" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        told = asyncio.run(measured(Path(folder), quick=quick))
    print(json.dumps({"load": os.getloadavg()[0], **told}))


async def measured(folder: Path, *, quick: bool) -> dict[str, Any]:
    """All of it."""
    count = QUICK_STREAMS if quick else STREAMS
    rate = QUICK_CALLS if quick else CALLS_A_SECOND
    seconds = QUICK_SECONDS if quick else SECONDS
    approvals = QUICK_APPROVALS if quick else APPROVALS
    async with served(folder) as (client, process):
        told = Told(count)
        bench = (await asked(client, "GET", "/server"))["workbench"]
        await asked(client, "POST", "/tools/add/calls", arguments={"a": 1, "b": 2})
        script = _script(folder, "says.json", [{"text": "Hello there."}])
        sessions = [
            (await asked(client, "POST", "/sessions", model=script))["id"]
            for _ in range(count - OF_THE_WORKBENCH)
        ]
        streams = [
            asyncio.create_task(listen(client, one, told))
            for one in (*sessions, *[bench] * OF_THE_WORKBENCH)
        ]
        await told.all_open.wait()
        looking = asyncio.create_task(watch_memory(process, told))
        made = await load(client, sessions, told, (rate, seconds))
        looking.cancel()
        leave = await answered(client, bench, told, approvals)
        agents = await answered_in_sessions(client, folder, told, approvals)
        for one in streams:
            if one.done() and not one.cancelled():
                told.wrong.append(f"a stream ended: {one.exception()}")
            one.cancel()
        await asyncio.gather(*streams, return_exceptions=True)
    third = max(1, len(told.rss) // 3)
    return {
        "streams": count,
        "wanted_a_second": rate,
        "calls_a_second": made,
        "seconds": seconds,
        "errors": len(told.wrong),
        "first_errors": told.wrong[:5],
        "events": told.events,
        "call_ms": _spread(told.late),
        "rss_first_mb": statistics.mean(told.rss[:third]) / 2**20,
        "rss_last_mb": statistics.mean(told.rss[-third:]) / 2**20,
        "approval_ms": _spread(leave),
        "session_approval_ms": _spread(agents),
    }


@asynccontextmanager
async def served(
    folder: Path,
) -> AsyncGenerator[tuple[aiohttp.ClientSession, asyncio.subprocess.Process]]:
    """A server, and a client of it."""
    for name in ("home", "work"):
        (folder / name).mkdir(mode=0o700)
    (folder / "tools.py").write_text(TOOLS, "utf-8")
    words = ["serve", "--port", "0", "--json", "--workspace", str(folder / "work")]
    words += ["--profile", "locked", "--from", str(folder / "tools.py")]
    process = await asyncio.create_subprocess_exec(
        str(HOLDFAST),
        *words,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "HOLDFAST_HOME": str(folder / "home")},
    )
    try:
        assert process.stdout is not None
        told = json.loads(await process.stdout.readline())
        async with aiohttp.ClientSession(
            base_url=told["address"],
            headers={"authorization": f"Bearer {told['token']}"},
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=None),
        ) as client:
            yield client, process
    finally:
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), 10)
        except TimeoutError:
            process.kill()
            await process.wait()


async def asked(client: aiohttp.ClientSession, method: str, path: str, /, **body: object) -> Any:  # noqa: ANN401 - whatever JSON the server gives
    """What is answered; RuntimeError where it is a problem."""
    async with client.request(method, API + path, json=body if method == "POST" else None) as got:
        text = await got.text()
        if got.status >= 300:
            raise RuntimeError(f"{method} {path}: {got.status} {text[:200]}")
        return json.loads(text) if text else None


async def listen(client: aiohttp.ClientSession, session: str, told: Told) -> None:
    """One stream; when a call is intended is noted."""
    async with client.get(f"{API}/sessions/{session}/stream") as got:
        if got.status != 200:
            raise RuntimeError(f"a stream: {got.status}")
        told.is_open()
        kind = b""
        async for line in got.content:
            if line.startswith(b"event: "):
                kind = line[7:-1]
            elif line.startswith(b"data: ") and kind == b"event":
                told.events += 1
                if b'"call.intended"' in line:
                    told.intended.setdefault(json.loads(line[6:])["call_id"], time.perf_counter())


async def watch_memory(process: asyncio.subprocess.Process, told: Told) -> None:
    """How much the server holds, now and then."""
    while True:
        told.rss.append(_resident(process.pid))
        await asyncio.sleep(LOOK_SECONDS)


def _resident(process_id: int) -> int:
    pages = Path(f"/proc/{process_id}/statm").read_text("ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


async def load(
    client: aiohttp.ClientSession, sessions: list[str], told: Told, amount: tuple[int, int]
) -> float:
    """Call at the wanted pace, and have the sessions run in turn; calls a second."""
    rate, seconds = amount
    began = time.perf_counter()
    numbers = iter(range(rate * seconds))

    async def call() -> None:
        for number in numbers:
            due = began + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            try:
                envelope = await asked(
                    client, "POST", "/tools/add/calls", arguments={"a": number, "b": 1}
                )
                if envelope["result"] != {"sum": number + 1}:
                    told.wrong.append(str(envelope))
            except (RuntimeError, aiohttp.ClientError, KeyError) as problem:
                told.wrong.append(repr(problem))
            told.late.append((time.perf_counter() - due) * 1e3)

    async def speak() -> None:
        for number, session in enumerate(sessions):
            due = began + number * seconds / len(sessions)
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            try:
                await asked(client, "POST", f"/sessions/{session}/messages", message="Hello.")
            except (RuntimeError, aiohttp.ClientError) as problem:
                told.wrong.append(repr(problem))

    await asyncio.gather(*(call() for _ in range(CLIENTS)), speak())
    return len(told.late) / (time.perf_counter() - began)


async def answered(
    client: aiohttp.ClientSession, bench: str, told: Told, count: int
) -> list[float]:
    """Milliseconds from an answer to the call's intent, of calls that wait in the workbench."""
    found: list[float] = []
    for number in range(count):
        call = asyncio.create_task(
            asked(client, "POST", "/tools/wipe/calls", arguments={"path": f"{number}"})
        )
        found.append(await _allowed(client, bench, told))
        await call
    return found


async def answered_in_sessions(
    client: aiohttp.ClientSession, folder: Path, told: Told, count: int
) -> list[float]:
    """The same of sessions that nobody runs while they wait."""
    script = _script(
        folder,
        "wipes.json",
        [{"calls": [{"name": "wipe", "arguments": {"path": "x"}}]}, {"text": "Done."}],
    )
    found: list[float] = []
    for _ in range(count):
        begun = await asked(client, "POST", "/sessions", model=script, message="Wipe.")
        stream = asyncio.create_task(listen(client, begun["id"], told))
        found.append(await _allowed(client, begun["id"], told))
        stream.cancel()
    return found


async def _allowed(client: aiohttp.ClientSession, session: str, told: Told) -> float:
    while True:
        waiting = await asked(client, "GET", f"/approvals?session={session}")
        row = await asked(client, "GET", f"/sessions/{session}")
        at_rest = session.startswith("ses_") and row["reported"] != "busy"
        if waiting["approvals"] and (at_rest or row["turns"] == 0):
            break
        await asyncio.sleep(0.01)
    (question,) = waiting["approvals"]
    began = time.perf_counter()
    path = f"/approvals/{question['approval_id']}"
    await asked(client, "POST", path, session_id=session, allow=True)
    while question["call_id"] not in told.intended:
        await asyncio.sleep(0.001)
        if time.perf_counter() - began > 10:
            raise RuntimeError("an answer was never heard")
    return (told.intended[question["call_id"]] - began) * 1e3


def _script(folder: Path, name: str, turns: list[dict[str, Any]]) -> str:
    (folder / name).write_text(json.dumps({"turn": turns}), "utf-8")
    return f"scripted:{folder / name}"


def _spread(found: list[float]) -> dict[str, float]:
    ordered = sorted(found)
    return {
        "median": statistics.median(ordered),
        "p99": ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))],
        "max": ordered[-1],
    }


if __name__ == "__main__":
    main()
