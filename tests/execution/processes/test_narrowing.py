"""A narrower policy on spawners of a warden that is there: less is reached."""

from pathlib import Path

import pytest
from execution.processes.ground import each
from execution.processes.session import Session, session
from msgspec.structs import replace

from holdfast.contract.sandbox import SandboxLimits, SandboxPolicy
from holdfast.contract.shell import Confinement
from holdfast.execution.processes.capture import Capture
from holdfast.execution.processes.command import Command, Limits, run
from holdfast.execution.processes.confinement import Scratch
from holdfast.execution.processes.narrowing import (
    NarrowedSandbox,
    can_narrow,
    make_temporary,
    without_hosts,
)
from holdfast.execution.processes.spawners import SandboxUnavailable
from holdfast.execution.spool import Spool

CONFINED = ("namespaces", "bubblewrap", "landlock")
WHOLE = SandboxPolicy(
    readable=("/ws",), writable=("/ws",), protected=("/ws/.git/config", "/ws/.git/hooks")
)


def narrowed(here: Session, policy: SandboxPolicy) -> NarrowedSandbox:
    whole = here.sandbox
    make_temporary(whole.parts.scratch.temporary, "own")
    own = f"{whole.parts.scratch.temporary}/own"
    scratch = Scratch(whole.parts.scratch.root, own, f"{own}/home")
    return NarrowedSandbox(whole.parts._replace(policy=policy, scratch=scratch), whole)


async def ran(sandbox: NarrowedSandbox, text: str) -> tuple[int, str]:
    warden = await sandbox.warden()
    command = Command(["sh", "-c", text], sandbox.parts.workspace, sandbox.environment())
    report = await run(
        warden, command, Limits(), lambda heard: Capture(Spool(lambda: None, 0), None, heard)
    )
    assert report.ended is not None
    return report.ended.exit, report.captured.stdout.head.decode()


@each(*CONFINED)
async def test_less_is_reached_in_the_same_sandbox(tmp_path: Path, kind: Confinement) -> None:
    async with session(tmp_path, kind) as here:
        whole = await here.sandbox.own_warden()
        root = str(here.workspace)
        reading = narrowed(here, SandboxPolicy(readable=(root,)))
        (here.workspace / "a").write_text("a", "utf-8")
        assert await ran(reading, "cat a") == (0, "a")
        assert (await ran(reading, "echo x > b"))[0] != 0
        assert (await ran(reading, "cat /etc/shadow"))[0] != 0
        assert await ran(reading, "touch $TMPDIR/x ~/x && ls $TMPDIR") == (0, "home\nx\n")
        assert (await ran(reading, "touch $TMPDIR/../x"))[0] != 0
        assert (await reading.warden()).keeper == whole.keeper
        assert (reading.confinement, reading.separate) == (kind, kind != "landlock")
        assert not (here.workspace / "b").exists()


@each("landlock")
async def test_a_closed_one_starts_nothing_and_leaves_the_whole(
    tmp_path: Path, kind: Confinement
) -> None:
    async with session(tmp_path, kind) as here:
        reading = narrowed(here, SandboxPolicy(readable=(str(here.workspace),)))
        reading.accept_no_weaker()
        with pytest.raises(SandboxUnavailable, match="nobody was asked"):
            await reading.warden()
        await reading.close()
        with pytest.raises(SandboxUnavailable, match="the session is closed"):
            await reading.warden()


def test_a_policy_is_narrowed_only_from_what_keeps_all_that_it_must() -> None:
    less = replace(WHOLE, writable=("/ws/out",), protected=())
    assert can_narrow(WHOLE, less)
    for other in (
        WHOLE,
        replace(less, readable=("/elsewhere",)),
        replace(less, writable=("/elsewhere",)),
        replace(less, network="hosts", hosts=(("a.example",),)),
        replace(less, limits=SandboxLimits(processes=3)),
        replace(WHOLE, protected=(*WHOLE.protected, "/ws/.holdfast")),
    ):
        assert not can_narrow(WHOLE, other), other


def test_hosts_are_no_part_of_what_is_narrowed_from() -> None:
    wide = replace(WHOLE, network="hosts", hosts=(("a.example",),))
    assert without_hosts(wide) == WHOLE


def test_a_place_that_somebody_planted_is_not_used(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "own").symlink_to(elsewhere)
    with pytest.raises(FileExistsError):
        make_temporary(str(tmp_path), "own")
    with pytest.raises(NotADirectoryError):
        make_temporary(str(tmp_path / "own"), "below")
    assert list(elsewhere.iterdir()) == []
