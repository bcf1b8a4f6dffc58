"""Copies in the artifact folder: whole ones, of what may be read, within a session's quota."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from execution.files.ground import Ground, gate_below

from holdfast.contract.errors import OperationFailed
from holdfast.contract.files import Files
from holdfast.contract.runtime import Runtime
from holdfast.execution.artifacts import CallArtifacts, Quotas, SessionArtifacts

PLENTY = Quotas(1 << 30, 1 << 30)


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


def session_of(ground: Ground, quotas: Quotas = PLENTY) -> SessionArtifacts:
    return SessionArtifacts(ground.root / "sessions", "ses_1", quotas)


def call_of(session: SessionArtifacts, files: Files) -> CallArtifacts:
    runtime = SimpleNamespace(fs=files, abort=SimpleNamespace(aborted=False))
    return CallArtifacts(session, cast("Runtime", runtime))


def test_a_quota_outlives_the_process_and_whatever_is_refused(ground: Ground) -> None:
    ground.lay({"a": b"x" * 900, "huge": b"x" * 1_500}, {})
    call_of(session_of(ground, Quotas(1_000, 1_000)), ground.files()).copy("a", "a")
    resumed = session_of(ground, Quotas(1_000, 1_000))
    for name, said in (
        ("huge", "an artifact may have"),
        ("none", "no none"),
        ("a", "900 are kept"),
    ):
        with pytest.raises(OperationFailed, match=said):
            call_of(resumed, ground.files()).copy(name, name)
    assert [one.name for one in resumed.path.iterdir()] == ["a"]


class Saving(SessionArtifacts):
    """Somebody saves the file anew while it is copied, as any program does."""

    file: Path

    def reserve(self, count: int, already: int) -> None:
        if already:
            new = self.file.with_name("new")
            new.write_bytes(b"B" * (3 << 20))
            new.replace(self.file)
        super().reserve(count, already)


@pytest.mark.parametrize("path", ["d/big", "d"])
def test_a_copy_is_of_one_file_whatever_takes_its_place(ground: Ground, path: str) -> None:
    ground.lay({"d/big": b"A" * (3 << 20)}, {})
    session = Saving(ground.root / "sessions", "ses_1", PLENTY)
    session.file = ground.workspace / "d/big"
    kept = Path(call_of(session, ground.files()).copy(path, "kept").host_path)
    content = (kept if kept.is_file() else kept / "big").read_bytes()
    assert content == b"A" * (3 << 20)


def test_what_may_not_be_read_is_left_out_and_counted(ground: Ground) -> None:
    tree = {
        "out/a": b"a",
        "out/closed.txt": b"k",
        "out/sub/b": b"b",
        "out/sub/c": b"c",
        "out/n": b"",
    }
    ground.lay(tree, {"out/link": "a"})
    gate = gate_below(str(ground.workspace), "out/sub", "out/closed.txt")
    kept = call_of(session_of(ground), ground.files(gate=gate)).copy("out", "out")
    assert (kept.left_out, kept.byte_count) == (3, 1)
    found = Path(kept.host_path)
    assert sorted(str(one.relative_to(found)) for one in found.rglob("*")) == ["a", "n"]
