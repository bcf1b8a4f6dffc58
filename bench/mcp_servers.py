"""MCP servers, ours and the official SDK's, asked by one raw client, taking turns.

The tool adds two numbers. Ours does all it does: preflight, policy, the journal, the output bound,
the redacted envelope. And programs of a manifest beside a bare spawn of the same program.

    python bench/mcp_servers.py [--quick]      prints JSON
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from holdfast import Holdfast
from mcp_clients import Http, Pipe, free_port

BIN = Path(sys.executable).parent
PEERS = Path(__file__).parent / "peers"
TOKEN = "a-token-for-the-benchmark-alone"
OURS = [str(BIN / "holdfast"), "mcp", "--from", str(PEERS / "mcp_tools.py")]
THEIRS = [sys.executable, str(PEERS / "mcp_sdk_server.py")]
PROGRAM = '#!/bin/sh\nread -r line\necho "$line"\n'


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        told = {
            "starts": starts(place, 3 if quick else 9),
            "pipe": over_a_pipe(place, 4 if quick else 12),
            "http": over_http(place, 4 if quick else 12),
            "programs": asyncio.run(programs(place, 40 if quick else 150)),
            "load": os.getloadavg()[0],
        }
    print(json.dumps(told))


class Place:
    """A home and a workspace that nobody else uses."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work = folder / "home", folder / "work"
        self.home.mkdir(mode=0o700)
        self.work.mkdir()
        keep = ("PATH", "LANG", "HOME")
        self.environment = {name: os.environ[name] for name in keep if name in os.environ}
        self.environment |= {"HOLDFAST_HOME": str(self.home), "HOLDFAST_MCP_TOKEN": TOKEN}

    def pipe(self, command: list[str]) -> Pipe:
        return Pipe(command, self.environment, self.work)


def starts(place: Place, runs: int) -> dict[str, dict[str, float]]:
    """Milliseconds from the start of the process to the answer of a first call."""
    samples: dict[str, list[float]] = {"holdfast": [], "mcp SDK": []}
    for number in range(runs + 1):
        for name, command in (("holdfast", OURS), ("mcp SDK", THEIRS)):
            began = time.perf_counter()
            server = place.pipe(command)
            server.greet()
            told = server.asked("tools/call", {"name": "add", "arguments": {"a": 2, "b": 3}})
            took = (time.perf_counter() - began) * 1000
            assert "5" in json.dumps(told["result"]["content"]), told
            server.close()
            if number:  # the first one writes the byte code
                samples[name].append(took)
        print(f"mcp: start {number} of {runs}", file=sys.stderr)
    return {name: _summary(times) for name, times in samples.items()}


def over_a_pipe(place: Place, rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds of one call after another, and calls a second with 32 under way."""
    servers = {"holdfast": place.pipe(OURS), "mcp SDK": place.pipe(THEIRS)}
    calls: dict[str, list[float]] = {name: [] for name in servers}
    rates: dict[str, list[float]] = {name: [] for name in servers}
    for server in servers.values():
        server.greet()
        _times(server.call, 100)
    for number in range(rounds):
        for name, server in servers.items():
            calls[name] += _times(server.call, 200)
            rates[name].append(server.calls(640))
        print(f"mcp: round {number + 1} of {rounds} over a pipe", file=sys.stderr)
    for server in servers.values():
        server.close()
    return {
        name: {**_summary(calls[name]), "rate": statistics.median(rates[name])} for name in servers
    }


def over_http(place: Place, rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds of one call after another over a connection that is kept."""
    ports = {"holdfast": free_port(), "mcp SDK": free_port()}
    commands = {
        "holdfast": [*OURS, "--http", str(ports["holdfast"])],
        "mcp SDK": [*THEIRS, str(ports["mcp SDK"])],
    }
    running = {
        name: subprocess.Popen(
            command,
            env=place.environment,
            cwd=place.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name, command in commands.items()
    }
    try:
        headers = {"holdfast": {"Authorization": f"Bearer {TOKEN}"}, "mcp SDK": {}}
        clients = {name: Http(ports[name], "/mcp", headers[name]) for name in running}
        calls: dict[str, list[float]] = {name: [] for name in clients}
        for client in clients.values():
            client.greet()
            told = client.call()
            assert b"5" in told, told
            _times(client.call, 50)
        for number in range(rounds):
            for name, client in clients.items():
                calls[name] += _times(client.call, 100)
            print(f"mcp: round {number + 1} of {rounds} over HTTP", file=sys.stderr)
        for client in clients.values():
            client.close()
    finally:
        for process in running.values():
            process.terminate()
        for process in running.values():
            process.wait(20)
    return {name: _summary(times) for name, times in calls.items()}


async def programs(place: Place, runs: int) -> dict[str, dict[str, float]]:
    """Milliseconds of a call of a manifest's program, and of the same program started bare."""
    program = place.work / "tools" / "bin" / "tell"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM, "utf-8")
    program.chmod(0o755)
    manifest = place.work / "tools.json"
    entry = {"name": "tell", "command": ["./tools/bin/tell"]}
    manifest.write_text(json.dumps({"tools": [entry]}), "utf-8")
    os.environ["HOLDFAST_HOME"] = str(place.home)
    sent = '{"say":"hello"}'
    bare: list[float] = []
    settled: list[float] = []
    async with Holdfast(manifests=[manifest], workspace=place.work) as hf:
        for number in range(runs + 5):
            began = time.perf_counter()
            printed = _spawned(program, sent.encode())
            middle = time.perf_counter()
            envelope = await hf.settle("tell", sent)
            ended = time.perf_counter()
            assert envelope.result == json.loads(printed)
            if number >= 5:
                bare.append((middle - began) * 1000)
                settled.append((ended - middle) * 1000)
    return {"bare spawn": _summary(bare), "manifest program": _summary(settled)}


def _spawned(program: Path, sent: bytes) -> bytes:
    return subprocess.run([program], input=sent, capture_output=True, check=True).stdout


def _times(call: Callable[[], object], count: int) -> list[float]:
    found: list[float] = []
    for _ in range(count):
        began = time.perf_counter()
        call()
        found.append((time.perf_counter() - began) * 1000)
    return found


def _summary(times: list[float]) -> dict[str, float]:
    return {"min": min(times), "median": statistics.median(times)}


if __name__ == "__main__":
    main()
