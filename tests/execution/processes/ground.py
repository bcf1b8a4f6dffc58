"""A workspace, a scratch place and a started warden for tests, in every kind of confinement."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from execution.processes import measured

from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes.capture import Capture
from holdfast.execution.processes.command import Command, Limits, Report, run
from holdfast.execution.processes.confinement import Scratch
from holdfast.execution.processes.tiers import STRONGEST_FIRST, UNCONFINED, Tier, start_in
from holdfast.execution.processes.wardens import Warden
from holdfast.execution.spool import Spool, SpoolFile

TIERS: dict[str, Tier] = {tier.name: tier for tier in (*STRONGEST_FIRST, UNCONFINED)}
UNLIMITED = Limits()
IS_ROOT = os.geteuid() == 0
_LOOKS = 800
"""So often it is looked before what still runs is told: sooner than a test's time is up."""


def each(*names: str) -> pytest.MarkDecorator:
    """One test in several kinds of confinement."""
    return pytest.mark.parametrize("kind", [_param(name) for name in names or TIERS])


def _param(name: str) -> object:
    marks: list[pytest.MarkDecorator] = []
    if name == "bubblewrap":
        marks.append(pytest.mark.system("bubblewrap", program="bwrap"))
    if name == "namespaces" and not IS_ROOT:
        marks.append(pytest.mark.skip(reason="only the super-user makes namespaces by hand"))
    return pytest.param(name, marks=marks)


class Ground(NamedTuple):
    """Where a test's processes live."""

    warden: Warden
    workspace: Path
    scratch: Path
    outside: Path

    async def run(
        self, text: str, limits: Limits = UNLIMITED, stdin: bytes | None = None
    ) -> Report:
        return await self.run_argv(["bash", "-c", text], limits, stdin)

    async def run_argv(
        self, argv: list[str], limits: Limits = UNLIMITED, stdin: bytes | None = None
    ) -> Report:
        environment = {"PATH": os.defpath, "LANG": "C.UTF-8"}
        command = Command(argv, str(self.workspace), environment, stdin)
        return await run(self.warden, command, limits, self.capture)

    def capture(self, heard: Callable[[], None]) -> Capture:
        return Capture(Spool(self.create, 1 << 30), None, heard)

    def create(self) -> SpoolFile:
        path = self.scratch / f"out{len(list(self.scratch.iterdir()))}"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        return SpoolFile(str(path), handle, 1 << 40)


def policy_of(workspace: Path) -> SandboxPolicy:
    root = str(workspace)
    kept = tuple(f"{root}/{name}" for name in (".git/config", ".git/hooks", ".holdfast"))
    return SandboxPolicy(readable=(root,), writable=(root,), protected=kept)


@asynccontextmanager
async def opened(
    tmp_path: Path, kind: str, policy: SandboxPolicy | None = None
) -> AsyncGenerator[Ground]:
    """A started warden, ended afterwards."""
    folder = tmp_path.resolve()
    places = [folder / name for name in ("workspace", "scratch", "root", "temporary", "outside")]
    for place in places:
        place.mkdir(exist_ok=True)
    workspace, scratch, root, temporary, outside = places
    home = Scratch(str(root), str(temporary), str(folder / "home"))
    warden = await start_in(_tier(kind), measurable(policy or policy_of(workspace)), home)
    try:
        yield Ground(warden, workspace, scratch, outside)
    finally:
        if measured.runs():
            warden.rest()
            await asyncio.sleep(0.3)  # they write down what they measured
        await warden.close()


def measurable(policy: SandboxPolicy) -> SandboxPolicy:
    """Under coverage a warden has to write what it measured."""
    if not measured.runs():
        return policy
    place = str(measured.ROOT)
    return msgspec.structs.replace(
        policy, readable=(*policy.readable, place), writable=(*policy.writable, place)
    )


def _tier(kind: str) -> Tier:
    if kind == "bubblewrap" and shutil.which("bwrap") is None:
        pytest.fail("bubblewrap is missing")
    return TIERS[kind]


def family_of(ground: Ground) -> list[int]:
    """The keeper and the processes below it that are no command."""
    keeper = ground.warden.keeper
    found = [keeper]
    for parent in found:
        listed = Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii")
        found += [int(pid) for pid in listed.split() if _is_ours(int(pid))]
    return found


def _is_ours(pid: int) -> bool:
    return b"holdfast.execution.warden" in Path(f"/proc/{pid}/cmdline").read_bytes()


async def stop(pids: list[int]) -> None:
    """Stop processes; all their threads stand still afterwards."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    while not all(map(_stands_still, pids)):
        await asyncio.sleep(0.001)


def _stands_still(pid: int) -> bool:
    threads = [path / "stat" for path in Path(f"/proc/{pid}/task").iterdir()]
    states = [path.read_text("utf-8").rpartition(")")[2].split()[0] for path in threads]
    return set(states) == {"T"}


def running_in(workspace: Path) -> list[int]:
    """The processes that still run in a directory."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink() == workspace:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


async def until_empty(workspace: Path) -> None:
    """They have the signal that nothing survives; the kernel may still be taking them down."""
    for _ in range(_LOOKS):
        if not running_in(workspace):
            return
        await asyncio.sleep(0.01)
    left = {pid: _command_of(pid) for pid in running_in(workspace)}
    assert not left, f"they still run: {left}"


def _command_of(pid: int) -> str:
    try:
        return (
            Path(f"/proc/{pid}/cmdline")
            .read_bytes()
            .replace(b"\0", b" ")
            .decode("utf-8", "replace")
        )
    except OSError:
        return "gone meanwhile"
