"""What programs say when their sandbox kept them from something, as people write programs."""

import shutil
import sys
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from execution.network.town import Site, served
from manifests import PARENT, Ground

from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject
from holdfast.contract.shell import Confinement

PYTHON = f"#!{sys.executable}\n"
CONNECT = "import socket\nsocket.create_connection(('203.0.113.7', 80), 5)\n"
RESOLVE = "import urllib.request\nurllib.request.urlopen('https://api.example/x', timeout=5)\n"
WRITE = "open('made.txt', 'w').write('x')\n"


@pytest.fixture
def ground() -> Generator[Ground]:
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield Ground(Path(folder))


@pytest.mark.parametrize(
    ("script", "needed"),
    [
        (CONNECT, "requires.net.hosts = "),
        (RESOLVE, "requires.net.hosts = "),
        (WRITE, "requires.fs.write = "),
    ],
)
async def test_what_python_is_refused_names_what_would_admit_it(
    ground: Ground, script: str, needed: str
) -> None:
    ground.program("tries", f"{PYTHON}{script}")
    async with ground.opened() as hf:
        failed = (await hf.settle("tries", {})).failure
    assert failed is not None
    assert failed.kind is FailureKind.REJECTED
    assert needed in failed.message


async def test_a_program_that_passes_the_proxy_by_is_told_so(ground: Ground) -> None:
    hosts: JsonObject = {"net": {"hosts": ["api.example"]}}
    ground.program("tries", f"{PYTHON}{CONNECT}", requires=hosts)
    async with ground.opened() as hf:
        failed = (await hf.settle("tries", {})).failure
    assert failed is not None
    assert "HTTPS_PROXY" in failed.message


FETCH = (
    "import json, sys, urllib.error, urllib.request\n"
    "try:\n"
    "    print(json.dumps(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode()))\n"
    "except urllib.error.HTTPError as problem:\n"
    "    print(json.dumps(problem.code))\n"
)
SERVES = (
    "import http.server, sys, threading\n"
    "class Quiet(http.server.BaseHTTPRequestHandler):\n"
    "    def do_GET(self):\n"
    "        self.send_response(200); self.end_headers(); self.wfile.write(b'from inside')\n"
    "    def log_message(self, *_): pass\n"
    "own = http.server.HTTPServer(('127.0.0.1', 0), Quiet)\n"
    "threading.Thread(target=own.serve_forever, daemon=True).start()\n"
    "sys.argv[1:] = [f'http://localhost:{own.server_port}/']\n"
)


async def test_a_granted_server_of_the_machine_and_an_own_one_are_both_reached(
    ground: Ground,
) -> None:
    async with served(Site()) as port:
        hosts: JsonObject = {"net": {"hosts": [f"127.0.0.1:{port}"]}}
        for name, script, words in (
            ("asks", FETCH, [f"http://127.0.0.1:{port}/"]),
            ("other_port", FETCH, ["http://127.0.0.1:9/"]),
            ("serves", SERVES + FETCH, []),
        ):
            ground.program(
                name, f"{PYTHON}{script}", command=[f"./tools/bin/{name}", *words], requires=hosts
            )
        ground.program(
            "own_way",
            f"{PYTHON}{FETCH}",
            command=["./tools/bin/own_way", f"http://127.0.0.1:{port}/"],
            requires=hosts,
            envPassthrough=["NO_PROXY"],
        )
        async with ground.opened(parent={**PARENT, "NO_PROXY": "127.0.0.1"}) as hf:
            told = await hf.settle("asks", {})
            if told.failure is not None and told.failure.kind is FailureKind.UNAVAILABLE:
                pytest.skip("hosts need a network namespace, and this machine gives none")
            assert (told.result, told.warnings) == ("hello", ())
            own = await hf.settle("serves", {})
            assert (own.result, own.warnings) == ("from inside", ())
            around = await hf.settle("own_way", {})
            assert around.failure is not None, "it said itself that no proxy is asked"
            refused = await hf.settle("other_port", {})
    assert refused.result == 403
    (warned,) = refused.warnings
    assert "The program was refused 127.0.0.1:9 meanwhile" in warned
    assert "requires.net.hosts = ['127.0.0.1:9'] would admit it." in warned
    assert f'"requires": {{"net": {{"hosts": ["127.0.0.1:{port}", "127.0.0.1:9"]}}}}' in warned


async def test_a_path_that_only_holds_the_name_of_the_temporary_directory_is_another(
    ground: Ground,
) -> None:
    # What the program asks for, without the beginning of its path, is there.
    missing = ground.workspace / "none.txt"
    twin = Path("/tmp") / missing.relative_to("/var/tmp")
    top = twin.parent.parent
    try:
        twin.parent.mkdir(parents=True)
        twin.write_text("x", "utf-8")
        ground.program("inside", f'cat "{missing}"')
        ground.program("nowhere", f'cat "{top}/none"')
        ground.program(
            "second", f'echo "/tmp/none/1 {twin}: No such file or directory" >&2; exit 1'
        )
        async with ground.opened() as hf:
            for name in ("inside", "nowhere"):
                assert (await hf.settle(name, {})).warnings == (), name
            (warned,) = (await hf.settle("second", {})).warnings
            assert f"it sees {twin} once" in warned
    finally:
        shutil.rmtree(top)


async def test_a_file_that_its_own_temporary_directory_hides_is_explained(ground: Ground) -> None:
    with TemporaryDirectory(dir="/tmp") as outside:
        there = Path(outside, "notes.txt")
        there.write_text("x", "utf-8")
        reads: JsonObject = {"fs": {"read": [f"{outside}/**"]}}
        ground.program("hidden", f'cat "{there}"')
        ground.program("python", f"{PYTHON}open('{there}')\n")
        ground.program("elsewhere", "cat none.txt")
        ground.program("named", f'cat "{there}"', requires=reads)
        ground.program("none", f'cat "{outside}/none"', requires=reads)
        async with ground.opened() as hf:
            for name in ("hidden", "python"):
                envelope = await hf.settle(name, {})
                assert envelope.failure is not None
                (warned,) = envelope.warnings
                assert "a /tmp of its own" in warned
                assert f"{there} once requires.fs.read names that" in warned
            assert (await hf.settle("elsewhere", {})).warnings == ()
            assert (await hf.settle("none", {})).warnings == ()
            assert (await hf.settle("named", {})).result == {"text": "x"}


@pytest.mark.parametrize("script", ["cat given.txt", f"{PYTHON}print(open('given.txt').read())\n"])
async def test_a_workspace_below_the_temporary_directory_works(script: str) -> None:
    with TemporaryDirectory(dir="/tmp") as folder:
        ground = Ground(Path(folder))
        (ground.workspace / "given.txt").write_text("here", "utf-8")
        ground.program("shows", script)
        async with ground.opened() as hf:
            assert (await hf.settle("shows", {})).result == {"text": "here"}


@pytest.mark.parametrize("confinement", [None, "landlock"])
@pytest.mark.parametrize("script", ["echo x > out/log.txt", f"{PYTHON}open('out/log.txt', 'w')\n"])
async def test_what_is_advised_for_a_file_that_is_not_there_yet_works(
    ground: Ground, script: str, confinement: Confinement | None
) -> None:
    (ground.workspace / "out").mkdir()
    ground.program("asks_for_nothing", script)
    ground.program("names_the_file", script, requires={"fs": {"write": ["out/log.txt"]}})
    ground.program("names_the_folder", script, requires={"fs": {"write": ["out/**"]}})
    async with ground.opened(confinement=confinement) as hf:
        for name in ("asks_for_nothing", "names_the_file"):
            failed = (await hf.settle(name, {})).failure
            assert failed is not None
            assert "only if it was there before" in failed.message
            assert failed.extras["requirements"] == ["requires.fs.write = ['out/**']"]
            assert '"requires": {"fs": {"write": [' in str(failed.extras["hint"])
            assert '"out/**"]}}' in str(failed.extras["hint"])
        assert (await hf.settle("names_the_folder", {})).ok
        assert (ground.workspace / "out" / "log.txt").exists()
        assert (await hf.settle("names_the_file", {})).ok, "now it is there"
