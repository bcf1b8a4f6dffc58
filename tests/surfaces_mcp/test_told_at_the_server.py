"""What goes wrong with the sources of tools while they are served is told at the server, once."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx2
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from command import HOLDFAST
from mcp_pipe import GREETING, Piped
from mcp_process import serving, variables

from holdfast.surfaces.mcp import remarks as remarks_module
from holdfast.surfaces.mcp.remarks import Remarks

pytestmark = pytest.mark.timeout(90)

FRAGILE = """
import json, os, sys, threading, time
from pathlib import Path

def end_when_told():
    while not Path(sys.argv[1], "die").exists():
        time.sleep(0.02)
    os._exit(3)

threading.Thread(target=end_when_told, daemon=True).start()
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        told = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "fragile", "version": "1"}}
    elif asked.get("method") == "tools/list":
        told = {"tools": [{"name": "break", "inputSchema": {"type": "object"}}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
"""


ASKS = """
[[rule]]
permission = "first"
pattern = "*"
action = "ask"
"""


class Ground:
    """A manifest and a home, and servers of it."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work = folder / "home", folder / "work"
        self.home.mkdir(mode=0o700)
        self.work.mkdir()
        programs = folder / "tools" / "bin"
        programs.mkdir(parents=True)
        (programs / "first").write_text('#!/bin/bash\necho \'{"am":"first"}\'\n', "utf-8")
        (programs / "first").chmod(0o755)
        self.manifest = folder / "tools.json"
        self.declare()

    def declare(self, *more: str) -> None:
        names = ("first", *more)
        entries = [{"name": name, "command": ["./tools/bin/first"]} for name in names]
        self.write(json.dumps({"tools": entries}))

    def write(self, text: str) -> None:
        written = self.manifest.with_name("tools.json.new")
        written.write_text(text, "utf-8")
        written.replace(self.manifest)


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


class Heard(Piped):
    """A server behind a pipe, whose remarks are read."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__(process)
        assert process.stderr is not None
        self.stderr: IO[bytes] = process.stderr

    def remark(self) -> str:
        return self.stderr.readline().decode()


@contextmanager
def heard(ground: Ground) -> Generator[Heard]:
    words = ["mcp", "--workspace", str(ground.work), "--manifest", str(ground.manifest)]
    with subprocess.Popen(
        [str(HOLDFAST), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=variables(ground.home),
    ) as process:
        try:
            yield Heard(process)
        finally:
            process.kill()


def test_a_broken_manifest_is_told_once_for_each_change(ground: Ground) -> None:
    with heard(ground) as served:
        served.greet()
        ground.write("{")
        first = served.remark()
        assert first.startswith(f"holdfast: {ground.manifest}: ")
        assert first.endswith("; its tools are those from before\n")
        for own in range(1, 5):
            served.say({"jsonrpc": "2.0", "id": own, "method": "tools/list"})
            assert "first" in [tool["name"] for tool in served.hear()["result"]["tools"]]
            served.call(own, "first")
            assert served.hear()["result"]["structuredContent"] == {"am": "first"}
        ground.write('{"tools": 7}')
        second = served.remark()
        assert (second != first, "from before" in second) == (True, True)
        ground.declare("second")
        assert served.hear()["method"] == "notifications/tools/list_changed"
        ground.write("{")
        assert served.remark() == first


async def test_over_http_all_sessions_tell_it_once(ground: Ground) -> None:
    async with serving(ground.home, ground.work, "--manifest", str(ground.manifest)) as server:
        token = {"Authorization": f"Bearer {server.token}", "content-type": "application/json"}
        async with httpx2.AsyncClient(headers=token, timeout=30) as client:
            for _ in range(3):
                assert (await client.post(server.url, json=GREETING)).status_code == 200
            assert server.process.stderr is not None
            lines = BufferedByteReceiveStream(server.process.stderr)
            ground.write("{")
            first = await lines.receive_until(b"\n", 10_000)
            ground.write('{"tools": 7}')
            second = await lines.receive_until(b"\n", 10_000)
            assert [b"from before" in one for one in (first, second)] == [True, True]
            assert first != second


def test_a_server_that_is_lost_is_told(ground: Ground, tmp_path: Path) -> None:
    program, folder = tmp_path / "fragile.py", tmp_path / "signs"
    program.write_text(FRAGILE, "utf-8")
    folder.mkdir()
    command = json.dumps([sys.executable, str(program), str(folder)])
    table = f"[mcp.fragile]\ncommand = {command}\nera = '2025-11-25'\n"
    (ground.home / "config.toml").write_text(table, "utf-8")
    with heard(ground) as served:
        served.greet()
        served.say({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        names = [tool["name"] for tool in served.answer(1)["result"]["tools"]]
        assert any("fragile" in name for name in names)
        (folder / "die").touch()
        assert served.remark().startswith("holdfast: mcp server fragile is failed: ")
        served.call(2, "first")
        assert served.hear()["result"]["structuredContent"] == {"am": "first"}


def test_a_call_that_nobody_could_be_asked_about_is_told_once(ground: Ground) -> None:
    ground.write(json.dumps({"tools": [{"name": "first", "command": ["./tools/bin/first"]}]}))
    (ground.home / "policy.toml").write_text(ASKS, "utf-8")
    with heard(ground) as served:
        served.greet()
        for own in (1, 2):
            served.call(own, "first")
            assert "no user is present" in served.hear()["result"]["content"][0]["text"]
        assert served.remark().startswith("holdfast: first: nobody could be asked about a call")
        ground.write("{")
        assert "its tools are those from before" in served.remark()  # and nothing in between


def test_no_more_is_remembered_than_has_room() -> None:
    told: list[str] = []
    remarks = Remarks(told.append)
    for number in range(1200):
        remarks.once(f"{number}" + "x" * 900)
        remarks.once("again")
    assert told.count("again") == 1
    assert (len(told), len(told[0])) == (1000, 800)


def test_what_one_session_has_told_others_do_not() -> None:
    told: list[str] = []
    remarks = Remarks(told.append)
    one, other = object(), object()
    remarks.take(one, ("a", "b", "a"))
    remarks.take(other, ("b", "c"))
    assert told == ["a", "b", "c"]
    remarks.take(one, ())
    remarks.take(one, ("b", "a"))
    assert told == ["a", "b", "c", "a"]
    remarks.forget(other)
    remarks.take(one, ("c", "x" * 5000))
    assert [one[:1000] for one in told[4:]] == ["c", "x" * 800]


def test_a_client_that_reads_no_remarks_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    said: list[str] = []

    def tell(text: str) -> None:
        said.append(text)
        os.write(writing, text.encode().ljust(800))

    monkeypatch.setattr(remarks_module, "_STDERR", writing)
    remarks = Remarks(tell)
    for number in range(1000):
        remarks.take(None, (str(number),))
    assert 1 < len(said) < 200
    while os.read(reading, 65536) and select.select([reading], [], [], 0)[0]:
        pass
    remarks.take(None, ("there is room again",))
    assert said[-1] == "there is room again"
    os.close(reading)
    remarks.take(None, ("nobody will read this",))
    assert said[-1] == "there is room again"
    os.close(writing)
