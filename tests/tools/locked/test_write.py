"""`write`: a whole file at once, never echoed; the host's twin says where it is."""

import stat
from pathlib import Path

import pytest
from tool_kit import UNRECORDED, answer, failure, opened, result

from holdfast.app.settings import LimitSettings, Settings
from holdfast.contract.failure import FailureKind

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024


@pytest.mark.req("SPEC-LOCK-06", "SPEC-WRITE-01", "SPEC-WRITE-05", "BOA-HAND-07")
async def test_a_file_is_written_and_not_told_back(workspace: Path) -> None:
    async with opened(workspace, "managed") as hf:
        tool = next(one for one in hf.tools if one.name == "write")
        assert (tool.requires.fs.write, tool.read_only) == (("**",), False)
        assert tool.input_schema["required"] == ["path", "content"]
        envelope = await answer(hf, "write", path="a.txt", content="geheim é\n")
        assert envelope.result == {"ok": True, "bytes": 10}
        assert "geheim" not in envelope.result_json.decode()
        assert (workspace / "a.txt").read_text() == "geheim é\n"
        assert await result(hf, "write", path="empty", content="") == {"ok": True, "bytes": 0}
        assert (workspace / "empty").read_bytes() == b""
        assert (await failure(hf, "write", path="b")).field == "content"
        assert not (workspace / "b").exists()


@pytest.mark.req("SPEC-WRITE-02", "SPEC-WRITE-03")
async def test_the_last_writer_wins_and_nothing_is_left_beside(workspace: Path) -> None:
    async with opened(workspace, "locked") as hf:
        await result(hf, "write", path="d/e/f.sh", content="one")
        (workspace / "d/e/f.sh").chmod(0o750)
        seen = (workspace / "d/e/f.sh").stat().st_ino
        await result(hf, "write", path="d/e/f.sh", content="two")
        now = (workspace / "d/e/f.sh").stat()
        assert (workspace / "d/e/f.sh").read_text() == "two"
        assert (stat.S_IMODE(now.st_mode), now.st_ino != seen) == (0o750, True)
        assert [one.name for one in (workspace / "d/e").iterdir()] == ["f.sh"]


@pytest.mark.req("SPEC-WRITE-06", "SPEC-EDIT-13")
async def test_one_bound_counts_for_write_and_edit(workspace: Path) -> None:
    async with opened(workspace, "locked") as hf:
        assert (await result(hf, "write", path="most", content="é" * (MIB // 2)))["bytes"] == MIB
        above = await failure(hf, "write", path="above", content="é" * (MIB // 2) + "x")
        assert (above.kind, above.field) == (FailureKind.INVALID_ARGS, "content")
        assert above.extras["reason"] == "too_large"
        assert not (workspace / "above").exists()
        grown = await failure(
            hf, "edit", path="most", old_string="é", new_string="éx", replace_all=True
        )
        assert (grown.field, grown.extras["reason"]) == ("new_string", "too_large")
        assert (workspace / "most").stat().st_size == MIB
        (workspace / "large").write_bytes(b"x" * (MIB + 1))
        before = await failure(hf, "edit", path="large", old_string="x", new_string="")
        assert (before.field, before.extras["reason"]) == ("path", "too_large")
        edit = await result(
            hf, "edit", path="most", old_string="é", new_string="ü", replace_all=True
        )
        assert edit["occurrences"] == MIB // 2


async def test_the_bound_is_the_hosts_to_set(workspace: Path) -> None:
    settings = Settings(limits=LimitSettings(file_bytes=10), store=UNRECORDED.store)
    async with opened(workspace, "locked", settings=settings) as hf:
        assert (await result(hf, "write", path="a", content="x" * 10))["ok"]
        assert (await failure(hf, "write", path="a", content="x" * 11)).field == "content"


@pytest.mark.req("BOA-HAND-06")
async def test_only_what_may_be_written_is(workspace: Path) -> None:
    (workspace.parent / "outside").mkdir()
    (workspace / "link").symlink_to(workspace.parent / "outside")
    async with opened(workspace, "managed") as hf:
        for path in ("../outside/x", str(workspace.parent / "outside/x"), "link/x", ".git/hooks/x"):
            refused = await failure(hf, "write", path=path, content="x")
            assert refused.kind == FailureKind.REJECTED
        assert (await failure(hf, "write", path=".", content="x")).kind == FailureKind.INVALID_ARGS
    async with opened(workspace, "readonly") as hf:
        refused = await failure(hf, "write", path="x", content="x")
        assert refused.kind == FailureKind.REJECTED
    assert list((workspace.parent / "outside").iterdir()) == []
    assert not (workspace / "x").exists()


async def test_a_path_of_a_directory_is_no_file(workspace: Path) -> None:
    async with opened(workspace) as hf:
        refused = await failure(hf, "write", path="newdir/", content="x")
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "path")
        patch = "*** Begin Patch\n*** Add File: newdir/\n+x\n*** End Patch"
        refused = await failure(hf, "apply_patch", patch=patch)
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "patch")
    assert not [*workspace.iterdir()]
