"""Control groups: found in either layout, made beside us, removed after us, never others'."""

import asyncio
import os
import secrets
import shutil
import subprocess
import threading
from pathlib import Path

import msgspec
import pytest
from execution.processes.ground import each, opened, policy_of

from holdfast.contract.sandbox import SandboxLimits
from holdfast.execution.processes import control_groups, tiers
from holdfast.execution.processes.control_groups import (
    RESERVED_PROCESSES,
    ControlGroups,
    Hierarchy,
    hierarchies,
    make_groups,
)

BOTH = SandboxLimits(processes=7, memory_bytes=1 << 20)


def tree(root: Path, *parts: str) -> Path:
    folder = root.joinpath(*parts)
    folder.mkdir(parents=True)
    return folder


def test_the_unified_layout_is_found_where_it_passes_controllers_on(tmp_path: Path) -> None:
    own = tree(tmp_path, "user", "shell.scope")
    (own / "cgroup.subtree_control").write_text("", "ascii")
    (tmp_path / "user" / "cgroup.subtree_control").write_text("cpu memory pids", "ascii")
    mounts = f"cgroup2 {tmp_path} cgroup2 rw 0 0\nproc /proc proc rw 0 0\n"
    found = hierarchies("0::/user/shell.scope\n", mounts)
    assert found == [Hierarchy(tmp_path / "user", True, frozenset({"pids", "memory"}))]


def test_the_separate_layout_is_found_by_controller(tmp_path: Path) -> None:
    for name in ("pids", "memory"):
        tree(tmp_path, name, "box")
    mounts = "".join(
        f"cgroup {tmp_path}/{name} cgroup rw,{name} 0 0\n" for name in ("pids", "memory", "cpu")
    )
    found = hierarchies("3:cpu:/box\n2:memory:/box\n1:pids:/box\n", mounts)
    assert found == [
        Hierarchy(tmp_path / name / "box", False, frozenset({name})) for name in ("memory", "pids")
    ]


@pytest.mark.parametrize(
    ("own", "mounts"),
    [
        ("0::/gone\n", "cgroup2 {root} cgroup2 rw 0 0\n"),
        ("0::/../..\n", "cgroup2 {root} cgroup2 rw 0 0\n"),
        ("0::gone\n", "cgroup2 / cgroup2 rw 0 0\n"),
        ("1:pids:/\n", "proc /proc proc rw 0 0\n"),
    ],
)
def test_where_nothing_can_be_made_nothing_is_found(tmp_path: Path, own: str, mounts: str) -> None:
    assert hierarchies(own, mounts.format(root=tmp_path)) == []


def test_a_machine_without_control_groups_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", missing)
    assert hierarchies() == []


class Kernel:
    """A folder that behaves as the kernel's: a new group has its files at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *files: str) -> None:
        make = Path.mkdir

        def mkdir(folder: Path) -> None:
            make(folder)
            for file in files:
                (folder / file).touch()

        monkeypatch.setattr(Path, "mkdir", mkdir)


@pytest.mark.parametrize(
    ("unified", "memory"), [(True, "memory.max"), (False, "memory.limit_in_bytes")]
)
def test_a_group_says_what_it_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unified: bool, memory: str
) -> None:
    Kernel(monkeypatch, "cgroup.procs")
    groups = make_groups(BOTH, [Hierarchy(tmp_path, unified, frozenset({"pids", "memory"}))])
    (folder,) = tmp_path.iterdir()
    assert groups.limited == {"processes", "memory"}
    assert (folder / "pids.max").read_text("ascii") == str(7 + RESERVED_PROCESSES)
    assert (folder / memory).read_text("ascii") == str(1 << 20)
    assert groups.entering(["prog", "--"])[-4:] == [str(folder), "--", "prog", "--"]


def test_a_group_that_cannot_be_entered_is_none(tmp_path: Path) -> None:
    # No kernel behind it: the folder has no list of processes, so it is taken back.
    place = Hierarchy(tmp_path, True, frozenset({"pids"}))
    groups = make_groups(SandboxLimits(processes=7), [place])
    assert groups.limited == frozenset()
    assert groups.entering(["prog"]) == ["prog"]
    # What was written into it stays: a real group is removed with its files.
    groups.remove()


def test_who_wants_no_limit_gets_no_group(tmp_path: Path) -> None:
    place = Hierarchy(tmp_path, True, frozenset({"pids", "memory"}))
    assert make_groups(SandboxLimits(), [place]) is control_groups.NO_GROUPS
    assert list(tmp_path.iterdir()) == []


def ended() -> int:
    """The number of a process that is no more."""
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    return gone.pid


def stale(parent: Path, name: str, inside: str = "") -> str:
    (parent / name).mkdir()
    (parent / name / "cgroup.procs").write_text(inside, "ascii")
    return name


def emptied(folder: Path) -> None:
    """As the kernel does: the files of a group go with it."""
    assert not (folder / "cgroup.procs").read_text("ascii")
    shutil.rmtree(folder)


def test_only_stale_groups_of_our_own_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, random = ended(), "0123456789abcdef"
    places = [Hierarchy(tmp_path, True, frozenset({"memory"}))]
    stale(tmp_path, f"holdfast-{gone}-{random}")
    kept = {
        stale(tmp_path, f"holdfast-{os.getpid()}-{random}"),  # our own
        stale(tmp_path, f"holdfast-1-{random}"),  # somebody's who lives
        stale(tmp_path, "holdfast-x"),
        stale(tmp_path, f"holdfast-{gone}-7"),
        stale(tmp_path, f"holdfast-{gone}-{random[::-1]}", "4711\n"),  # in use, elsewhere
        f"holdfast-{gone}-{random[1:]}0",
    }
    (tmp_path / f"holdfast-{gone}-{random[1:]}0").mkdir()  # no group at all
    monkeypatch.setattr(Path, "rmdir", emptied)
    make_groups(SandboxLimits(processes=7), places)
    # All are young: another runtime may be about to enter any of them.
    assert len(list(tmp_path.iterdir())) == len(kept) + 1
    monkeypatch.setattr(control_groups, "STALE_SECONDS", -1)
    make_groups(SandboxLimits(processes=7), places)
    assert {folder.name for folder in tmp_path.iterdir()} == kept


def test_a_process_of_somebody_else_is_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_yours(_process: int, _signal: int) -> None:
        raise PermissionError

    name = stale(tmp_path, "holdfast-4711-0123456789abcdef")
    monkeypatch.setattr(os, "kill", not_yours)
    monkeypatch.setattr(Path, "rmdir", emptied)
    monkeypatch.setattr(control_groups, "STALE_SECONDS", -1)
    make_groups(SandboxLimits(processes=7), [Hierarchy(tmp_path, True, frozenset())])
    assert [folder.name for folder in tmp_path.iterdir()] == [name]


def test_what_was_there_before_is_neither_used_nor_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def guessed(count: int) -> str:
        return "0" * 2 * count

    monkeypatch.setattr(secrets, "token_hex", guessed)
    theirs = tmp_path / f"holdfast-{os.getpid()}-{'0' * 16}"
    theirs.mkdir()
    place = Hierarchy(tmp_path, True, frozenset({"pids", "memory"}))
    groups = make_groups(BOTH, [place])
    assert groups.limited == frozenset()
    groups.remove()
    assert list(theirs.iterdir()) == []


def test_names_cannot_be_guessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Kernel(monkeypatch, "cgroup.procs")
    place = Hierarchy(tmp_path, True, frozenset({"pids"}))
    for _ in range(3):
        make_groups(BOTH, [place])
    names = [folder.name.split("-") for folder in tmp_path.iterdir()]
    assert {name[1] for name in names} == {str(os.getpid())}
    assert len({name[2] for name in names}) == 3
    assert all(len(name[2]) == 16 for name in names)


def test_a_real_group_is_entered_before_the_program_starts() -> None:
    before = groups_of_this_process()
    groups = make_groups(SandboxLimits(processes=50))
    if "processes" not in groups.limited:
        groups.remove()
        pytest.skip("no control group can be made here")
    shown = subprocess.run(
        groups.entering(["cat", "/proc/self/cgroup"]), capture_output=True, check=True
    )
    assert f"holdfast-{os.getpid()}-".encode() in shown.stdout
    groups.remove()
    assert groups_of_this_process() == before


def groups_of_this_process() -> set[Path]:
    """Also those of sandboxes that are just being closed."""
    return {f for place in hierarchies() for f in place.parent.glob(f"holdfast-{os.getpid()}-*")}


def test_a_group_is_removed_once_what_dies_in_it_is_gone() -> None:
    before = groups_of_this_process()
    groups = make_groups(SandboxLimits(processes=50))
    if "processes" not in groups.limited:
        pytest.skip("no control group can be made here")
    with subprocess.Popen(groups.entering(["sleep", "0.2"])) as inside:
        groups.remove_when_empty()
        inside.wait()
    assert groups_of_this_process() == before


def test_a_group_that_never_gets_empty_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_groups, "_DYING_SECONDS", 0.05)
    (tmp_path / "group" / "inside").mkdir(parents=True)
    ControlGroups([tmp_path / "group"], frozenset()).remove_when_empty()
    assert (tmp_path / "group").exists()


class Noted(ControlGroups):
    """Groups of a machine that has none: removing them is noted."""

    def __init__(self) -> None:
        super().__init__([], frozenset())
        self.removed = threading.Event()

    def remove(self) -> None:
        """Note it."""
        self.removed.set()


@pytest.mark.parametrize("way", ["close", "abandon"])
@each("namespaces", "landlock")
async def test_a_warden_that_ends_leaves_no_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, way: str
) -> None:
    made: list[Noted] = []

    def noted(_limits: SandboxLimits) -> ControlGroups:
        made.append(Noted())
        return made[-1]

    monkeypatch.setattr(tiers, "make_groups", noted)
    async with opened(tmp_path, kind) as ground:
        assert made
        assert not made[-1].removed.is_set()
        if way == "abandon":
            ground.warden.abandon()
            assert await asyncio.to_thread(made[-1].removed.wait, 10)
    assert made[-1].removed.is_set()


@each("namespaces", "landlock")
async def test_no_real_group_is_left_of_a_warden(tmp_path: Path, kind: str) -> None:
    workspace = tmp_path.resolve() / "workspace"
    limits = SandboxLimits(processes=50, memory_bytes=1 << 30)
    policy = msgspec.structs.replace(policy_of(workspace), limits=limits)

    def ours() -> list[Path]:
        found = [place.parent.glob(f"holdfast-{os.getpid()}-*") for place in hierarchies()]
        return [folder for folders in found for folder in folders]

    before = ours()
    async with opened(tmp_path, kind, policy):
        during = ours()
    assert ours() == before
    if during == before:
        pytest.skip("no control group can be made here")
