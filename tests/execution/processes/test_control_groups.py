"""Control groups: found in either layout, made beside us, removed after us, never others'."""

import os
import subprocess
from pathlib import Path

import pytest

from holdfast.contract.sandbox import SandboxLimits
from holdfast.execution.processes import control_groups
from holdfast.execution.processes.control_groups import (
    RESERVED_PROCESSES,
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


def test_only_stale_groups_of_our_own_are_removed(tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    ours, mine, others = f"holdfast-{gone.pid}-0", f"holdfast-{os.getpid()}-999999", "holdfast-x"
    for name in (ours, mine, others):
        (tmp_path / name).mkdir()
    make_groups(SandboxLimits(processes=7), [Hierarchy(tmp_path, True, frozenset({"memory"}))])
    assert {folder.name for folder in tmp_path.iterdir()} == {mine, others}


def test_a_real_group_is_entered_before_the_program_starts() -> None:
    groups = make_groups(SandboxLimits(processes=50))
    if "processes" not in groups.limited:
        groups.remove()
        pytest.skip("no control group can be made here")
    shown = subprocess.run(
        groups.entering(["cat", "/proc/self/cgroup"]), capture_output=True, check=True
    )
    assert f"holdfast-{os.getpid()}-".encode() in shown.stdout
    groups.remove()
    left = [f for place in hierarchies() for f in place.parent.glob(f"holdfast-{os.getpid()}-*")]
    assert left == []
