"""What appears at a protected place: found, put aside, or said to be in the way."""

import os
from pathlib import Path

import pytest

from holdfast.contract.errors import Unavailable
from holdfast.contract.gates import PathLeave
from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes import appearances
from holdfast.execution.processes.appearances import Appearances, put_aside, settled


def policy(root: Path, *protected: str) -> SandboxPolicy:
    places = tuple(f"{root}/{name}" for name in protected)
    return SandboxPolicy(writable=(str(root),), protected=places)


def leave(_access: object, path: str) -> PathLeave:
    return PathLeave(path)


def test_only_what_lies_in_a_writable_place_is_watched(tmp_path: Path) -> None:
    watched = Appearances(SandboxPolicy(writable=("/elsewhere",), protected=(f"{tmp_path}/x",)))
    assert watched.absent() == ()


def test_what_cannot_be_moved_is_told_and_ends_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path.resolve()
    absent = Appearances(policy(root, ".git/hooks")).absent()
    (root / ".git" / "hooks").mkdir(parents=True)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "rename", refused)
    with pytest.raises(Unavailable, match="cannot be put aside"):
        list(put_aside(absent, leave))
    monkeypatch.setattr(appearances, "open_physical", refused)
    with pytest.raises(Unavailable, match="Operation not permitted"):
        list(put_aside(absent, leave))


def test_a_file_on_the_way_is_protected_itself(tmp_path: Path) -> None:
    (tmp_path / ".git").touch()
    found = settled(policy(tmp_path, ".git/config", ".claude/settings.json"))
    assert f"{tmp_path}/.git" in found.protected
    assert f"{tmp_path}/.claude" not in found.protected
