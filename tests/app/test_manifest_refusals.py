"""What programs say when their sandbox kept them from something, as people write programs."""

import sys
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from manifests import Ground

from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject

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
