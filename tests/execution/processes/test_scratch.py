"""A sandbox's own directories are removed, with or without a program for it."""

from pathlib import Path

import pytest

from holdfast.execution.processes import scratch
from holdfast.execution.processes.scratch import make_scratch, remove_scratch


@pytest.mark.parametrize("program", ["/bin/rm", "/nowhere/rm"])
def test_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(scratch, "_REMOVE", (program, "-rf"))
    made = make_scratch(tmp_path / "of" / "it", None)
    assert made.home == f"{made.temporary}/home"
    Path(made.temporary, "file").touch()
    remove_scratch(tmp_path / "of")
    assert not (tmp_path / "of").exists()
