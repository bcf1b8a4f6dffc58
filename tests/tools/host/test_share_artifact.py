"""`share_artifact`: a block that surfaces find, a copy that is safe, four failures told apart."""

import os
import stat
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from marked import shared
from tool_kit import UNRECORDED, answer, failure, opened, result

from holdfast import tool
from holdfast.app.settings import LimitSettings, Settings, StoreSettings
from holdfast.contract.artifacts import MARKERS, Artifacts
from holdfast.contract.failure import FailureKind
from holdfast.contract.rules import Rule
from holdfast.execution import artifacts as keeping
from holdfast.runtime.abort import Abort

pytestmark = pytest.mark.anyio


@pytest.mark.req("OSA-MRK-04", "OSA-MRK-05")
async def test_a_file_is_copied_and_described(workspace: Path) -> None:
    (workspace / "report.pdf").write_bytes(b"%PDF")
    async with opened(workspace, "host") as hf:
        offered = next(one for one in hf.tools if one.name == "share_artifact")
        assert (offered.read_only, offered.destructive) == (False, False)
        block = await shared(hf, path="report.pdf", description="The report")
        host_path = block.facts.pop("host_path")
        assert block.facts == {
            "filename": "report.pdf",
            "mime_type": "application/pdf",
            "path": "report.pdf",
            "description": "The report",
            "context_id": hf.session_id,
            "context_type": "session",
            "file_size": 4,
            "is_directory": False,
        }
        assert (block.header, block.lines) == ("Shared report.pdf.", [])
    kept = Path(host_path)
    assert kept.read_bytes() == b"%PDF"  # it outlives the session
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


@pytest.mark.req("OSA-MRK-08")
async def test_a_text_is_kept_and_stands_in_the_block(workspace: Path) -> None:
    async with opened(workspace, "host") as hf:
        block = await shared(hf, content="a\\nb\\tc\nd\n", filename="n.md")
        assert block.facts["has_content"] is True
        assert "path" not in block.facts
        assert block.lines == ["a", "b\tc", "d"]
        assert Path(block.facts["host_path"]).read_text(encoding="utf-8") == "a\nb\tc\nd\n"


@pytest.mark.req("OSA-MRK-06")
async def test_the_path_wins_over_content(workspace: Path) -> None:
    (workspace / "a.txt").write_text("from the file", encoding="utf-8")
    async with opened(workspace, "host") as hf:
        block = await shared(hf, path="a.txt", content="other", filename="b.txt")
        assert Path(block.facts["host_path"]).read_text(encoding="utf-8") == "from the file"
        assert (block.facts["filename"], block.lines) == ("b.txt", [])
        for missing, field in (({}, "path"), ({"content": "x"}, "filename")):
            refused = await failure(hf, "share_artifact", **missing)
            assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, field)


@pytest.mark.req("OSA-ART-07")
async def test_empty_fillers_count_as_absent(workspace: Path) -> None:
    (workspace / "a.txt").write_text("x", encoding="utf-8")
    async with opened(workspace, "host") as hf:
        filled = await shared(hf, path="a.txt", content="", filename="", description="")
        assert filled.facts["filename"] == "a.txt"
        assert "description" not in filled.facts
        text = await shared(hf, path="", content="x", filename="b.txt")
        assert text.lines == ["x"]


@pytest.mark.req("OSA-MRK-07")
@pytest.mark.parametrize("marker", MARKERS)
async def test_content_that_looks_like_a_block_is_refused(workspace: Path, marker: str) -> None:
    async with opened(workspace, "host") as hf:
        for content in (marker, f"a\n{marker}\nb", f"x{marker}y"):
            refused = await failure(hf, "share_artifact", content=content, filename="a.txt")
            assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "content")
        for field in ("description", "filename"):
            sent = {"content": "a", "filename": "a.txt", field: marker}
            assert (await failure(hf, "share_artifact", **sent)).field == field


@pytest.mark.parametrize("path", ["../other.txt", "/etc/passwd", "a/../../b", "a\0b", "/a/../etc"])
async def test_a_refused_path_names_the_root_and_how_to_search(workspace: Path, path: str) -> None:
    async with opened(workspace, "host") as hf:
        refused = await failure(hf, "share_artifact", path=path)
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "path")
        assert str(workspace) in refused.message
        assert "sandbox_search_files" in refused.message


@pytest.mark.req("OSA-ART-03", "OSA-ART-04")
async def test_what_is_not_found_is_looked_for_in_this_order(workspace: Path) -> None:
    places = ["sub/a.txt", "output/a.txt", "out/a.txt", "build/a.txt", "dist/a.txt"]
    async with opened(workspace, "host") as hf:
        missing = await failure(hf, "share_artifact", path="sub/a.txt")
        assert missing.kind == FailureKind.EXECUTION_ERROR
        listed = [line[2:] for line in missing.message.split("\n") if line.startswith("- ")]
        assert listed == [str(workspace / place) for place in places]
        for place in reversed(places):
            (workspace / place).parent.mkdir()
            (workspace / place).write_text(place, encoding="utf-8")
            block = await shared(hf, path="sub/a.txt")
            assert Path(block.facts["host_path"]).read_text(encoding="utf-8") == place


@pytest.mark.req("OSA-ART-05")
async def test_a_failed_copy_tells_the_systems_words_and_the_source(workspace: Path) -> None:
    (workspace / "a.txt").write_text("x", encoding="utf-8")
    async with opened(workspace, "host") as hf:
        home = workspace.parent / f"{workspace.name}-home"
        folder = home / "data" / "sessions" / hf.session_id
        folder.mkdir(parents=True)
        (folder / "artifacts").write_text("in the way", encoding="utf-8")
        failed = await failure(hf, "share_artifact", path="a.txt")
        assert failed.kind == FailureKind.EXECUTION_ERROR
        assert str(workspace / "a.txt") in failed.message
        assert os.strerror(20) in failed.message  # Not a directory
        assert failed.message.count("could not be copied") == 1


@pytest.mark.req("OSA-ART-06")
@pytest.mark.parametrize("name", ["a/b", "..", ".", "a\\b", "a\nb", "x" * 300])
async def test_a_refused_name_asks_for_a_plain_one(workspace: Path, name: str) -> None:
    (workspace / "a.txt").write_text("x", encoding="utf-8")
    async with opened(workspace, "host") as hf:
        for more in ({"content": "x"}, {"path": "a.txt"}):
            refused = await failure(hf, "share_artifact", filename=name, **more)
            assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "filename")
            assert "plain basename" in refused.message


@pytest.mark.req("OSA-ART-01")
async def test_the_four_failures_are_told_apart(workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    async with opened(workspace, "host") as hf:
        seen = {
            (refused.kind, refused.field, refused.message[:20])
            for refused in [
                await failure(hf, "share_artifact", path="../a"),
                await failure(hf, "share_artifact", path="none"),
                await failure(hf, "share_artifact", path="pipe"),
                await failure(hf, "share_artifact", content="x", filename="a/b"),
            ]
        }
        assert len(seen) == 4


@tool(requires={"fs": {"read": ["site", "site/*.txt"]}}, uses={"path": "fs.read"})
def keep(artifacts: Artifacts, path: str) -> int:
    """Keep a copy of what little may be read."""
    return artifacts.copy(path, "kept").byte_count


async def test_what_the_files_answer_is_told_once(workspace: Path) -> None:
    (workspace / "site").mkdir()
    (workspace / "site" / "a.txt").write_text("abc", encoding="utf-8")
    async with opened(workspace, "bare", tools=[keep]) as hf:
        missing = await failure(hf, "keep", path="site/none.txt")
        assert missing.kind == FailureKind.EXECUTION_ERROR
        assert missing.message == (
            "site/none.txt could not be copied to the artifact folder: There is no site/none.txt."
        )
        await result(hf, "keep", path="site")
        (workspace / "site" / "b.key").write_text("secret", encoding="utf-8")
        assert await result(hf, "keep", path="site") == 3
        home = workspace.parent / f"{workspace.name}-home"
        folder = home / "data" / "sessions" / hf.session_id / "artifacts"
        assert sorted(one.name for one in folder.rglob("*")) == ["a.txt", "a.txt", "kept", "kept-2"]


async def test_a_directory_is_copied_without_its_links(workspace: Path) -> None:
    (workspace / "site" / "deep").mkdir(parents=True)
    (workspace / "site" / "index.html").write_text("hello", encoding="utf-8")
    (workspace / "site" / "deep" / "a").write_text("abc", encoding="utf-8")
    (workspace / "site" / "passwords").symlink_to("/etc/passwd")
    async with opened(workspace, "host") as hf:
        block = await shared(hf, path="site")
        assert (block.facts["is_directory"], block.facts["file_size"]) == (True, 8)
        said = "Shared site (1 left out: links, special files, and what may not be read)."
        assert block.header == said
        kept = Path(block.facts["host_path"])
        found = sorted(str(one.relative_to(kept)) for one in kept.rglob("*"))
        assert found == ["deep", "deep/a", "index.html"]


async def test_no_artifact_is_overwritten(workspace: Path) -> None:
    async with opened(workspace, "host") as hf:
        names = [
            (await shared(hf, content=str(number), filename="a.tar.gz")).facts["filename"]
            for number in range(3)
        ]
        assert names == ["a.tar.gz", "a.tar-2.gz", "a.tar-3.gz"]


async def test_of_one_name_there_are_only_so_many(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "_MOST_OF_ONE_NAME", 2)
    (workspace / "a").mkdir()
    async with opened(workspace, "host") as hf:
        await shared(hf, content="1", filename="a")
        kept = Path((await shared(hf, path="a")).facts["host_path"])
        assert kept.name == "a-2"
        for more in ({"content": "3", "filename": "a"}, {"path": "a"}):
            failed = await failure(hf, "share_artifact", **more)
            assert failed.kind == FailureKind.EXECUTION_ERROR
            assert failed.message.endswith("there are 2 artifacts of that name")
        assert sorted(one.name for one in kept.parent.iterdir()) == ["a", "a-2"]


async def test_what_is_no_file_is_named_with_the_reason(workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    async with opened(workspace, "host") as hf:
        failed = await failure(hf, "share_artifact", path="pipe")
        assert failed.message == (
            f"{workspace / 'pipe'} could not be copied to the artifact folder:"
            " it is neither a file nor a directory"
        )


async def test_a_link_out_of_the_workspace_is_not_followed(workspace: Path) -> None:
    (workspace.parent / "secret").write_text("s", encoding="utf-8")
    (workspace / "link").symlink_to(workspace.parent / "secret")
    async with opened(workspace, "host") as hf:
        assert (await failure(hf, "share_artifact", path="link")).kind == FailureKind.REJECTED


async def test_a_rule_about_the_path_counts(workspace: Path) -> None:
    (workspace / "secret").mkdir()
    (workspace / "secret" / "k").write_text("k", encoding="utf-8")
    deny = Rule(
        permission="fs.read", pattern="secret/*", action="deny", scope="manifest", source=""
    )
    async with opened(workspace, "host", rules=[deny]) as hf:
        refused = await failure(hf, "share_artifact", path="secret/k")
        assert refused.kind == FailureKind.REJECTED


async def test_quotas_bound_what_is_kept_and_nothing_half_stays(workspace: Path) -> None:
    (workspace / "big").write_bytes(b"x" * 60)
    (workspace / "huge").write_bytes(b"x" * 101)
    limits = LimitSettings(sidecar_call_bytes=100, sidecar_session_bytes=150)
    settings = Settings(store=StoreSettings(kind="none"), limits=limits)
    async with opened(workspace, "host", settings=settings) as hf:
        assert "100 bytes" in (await failure(hf, "share_artifact", path="huge")).message
        folder = Path((await shared(hf, path="big")).facts["host_path"]).parent
        await shared(hf, path="big")
        assert "150 bytes" in (await failure(hf, "share_artifact", path="big")).message
        assert sorted(one.name for one in folder.iterdir()) == ["big", "big-2"]
        await shared(hf, content="x" * 30, filename="fits.txt")


async def test_a_directory_of_too_many_entries_is_refused_whole(workspace: Path) -> None:
    (workspace / "many").mkdir()
    for number in range(2_001):
        (workspace / "many" / str(number)).touch()
    async with opened(workspace, "host") as hf:
        failed = await failure(hf, "share_artifact", path="many")
        assert "2,000 entries" in failed.message
        folder = Path((await shared(hf, content="x", filename="a")).facts["host_path"]).parent
        assert [one.name for one in folder.iterdir()] == ["a"]


async def test_an_interrupt_keeps_nothing(workspace: Path) -> None:
    (workspace / "large").mkdir()
    for number in range(1_500):
        (workspace / "large" / str(number)).write_bytes(b"x" * 10_000)
    async with opened(workspace, "host") as hf, anyio.create_task_group() as tasks:
        abort = Abort()
        home = workspace.parent / f"{workspace.name}-home"
        kept = home / "data" / "sessions" / hf.session_id / "artifacts" / "large"

        async def share() -> None:
            envelope = await hf.settle("share_artifact", {"path": "large"}, abort=abort)
            assert envelope.failure is not None

        tasks.start_soon(share)
        with anyio.fail_after(10):
            while not kept.exists():
                await anyio.lowlevel.checkpoint()
            abort.set()
            while kept.exists():  # noqa: ASYNC110 - a thread takes it away
                await anyio.sleep(0.01)


async def test_a_text_too_long_for_an_answer_is_to_be_shared_as_a_file(workspace: Path) -> None:
    async with opened(workspace, "host", settings=UNRECORDED) as hf:
        refused = await failure(hf, "share_artifact", content="x" * 140_000, filename="a")
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "content")
        whole = await result(hf, "share_artifact", content='"\n' * 60_000, filename="a")
        assert whole["text"].endswith("---SHARED_ARTIFACT_END---")
        assert (await answer(hf, "share_artifact", content="a", filename="b")).warnings == ()
