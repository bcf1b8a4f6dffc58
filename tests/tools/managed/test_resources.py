"""Files that sessions of an agent share: staged, compared, promoted, restored."""

import json
from pathlib import Path

import pytest
from tool_kit import UNRECORDED, failure, result
from tools.managed.shared_kit import events_of, managed, promoted, substrate_of

from holdfast.contract.failure import FailureKind
from holdfast.contract.managed_events import ResourcePromoted, ResourceStaged
from holdfast.contract.rules import Rule
from holdfast.contract.versions import content_hash

pytestmark = pytest.mark.anyio

STAGE, COMPARE = "resources_stage_from_substrate", "resources_compare_with_substrate"
PROMOTE, RESTORE = "resources_promote_to_substrate", "resources_restore_version"


def put(workspace: Path, name: str, content: str | bytes) -> Path:
    path = substrate_of(workspace) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def hashed(text: str) -> str:
    return content_hash(text.encode())


@pytest.mark.req("BOA-RES-23")
async def test_a_session_is_told_what_it_stands_on(workspace: Path) -> None:
    async with managed(workspace) as hf:
        told = await result(hf, "resources_list")
        assert told["session_id"] == hf.session_id
        kinds = [(one["kind"], one["access"], one["scope"]) for one in told["resources"]]
        assert kinds == [
            ("session_workspace", "read_write", "session"),
            ("agent_substrate", "read_only", "agent"),
            ("learnings", "read_only", "agent"),
            ("runtime_memory", "read_only", "session"),
        ]
        assert all(Path(one["mount_path"]).is_dir() for one in told["resources"])


@pytest.mark.req("BOA-RES-02", "BOA-RES-03")
async def test_a_shared_file_is_copied_into_the_workspace(workspace: Path) -> None:
    async with managed(workspace) as hf:
        put(workspace, "docs/guide.md", "one\n")
        staged = await result(hf, STAGE, source_path="docs/guide.md")
        assert (workspace / "docs" / "guide.md").read_text() == "one\n"
        assert staged == {
            "source_path": "docs/guide.md",
            "target_path": "docs/guide.md",
            "bytes": 4,
            "reused_existing": False,
            "diverged_from_source": False,
            "source_content_hash": hashed("one\n"),
            "target_content_hash": hashed("one\n"),
            "artifact_path": str(_artifact(workspace, hf.session_id)),
        }
        told = [one for one in await events_of(hf) if isinstance(one, ResourceStaged)]
        assert told == [
            ResourceStaged(
                source_path="docs/guide.md",
                target_path="docs/guide.md",
                source_hash=hashed("one\n"),
                target_hash=hashed("one\n"),
            )
        ]
        await result(hf, STAGE, source_path="docs/guide.md", target_path="mine.md")
        assert (workspace / "mine.md").read_text() == "one\n"
        assert (await failure(hf, STAGE, source_path="none.md")).kind is FailureKind.NOT_FOUND
        blank = await failure(hf, STAGE, source_path="  ")
        assert (blank.kind, blank.field) == (FailureKind.INVALID_ARGS, "source_path")
        assert blank.message == f"{STAGE} requires a non-empty source_path"


def _artifact(workspace: Path, session: str) -> Path:
    return workspace.resolve() / ".holdfast-runtime" / session / "staged-substrate.json"


@pytest.mark.req("BOA-RES-04", "BOA-RES-05")
async def test_a_draft_is_kept_and_what_is_no_draft_is_not_overwritten(workspace: Path) -> None:
    async with managed(workspace) as hf:
        put(workspace, "a.md", "one\n")
        put(workspace, "b.md", "other\n")
        (workspace / "a.md").write_text("mine\n")
        refused = await failure(hf, STAGE, source_path="a.md")
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "overwrite")
        assert (workspace / "a.md").read_text() == "mine\n"
        await result(hf, STAGE, source_path="a.md", overwrite=True)
        assert (workspace / "a.md").read_text() == "one\n"
        again = await result(hf, STAGE, source_path="a.md")
        assert (again["reused_existing"], again["diverged_from_source"]) == (True, False)
        (workspace / "a.md").write_text("changed\n")
        again = await result(hf, STAGE, source_path="a.md")
        assert (again["reused_existing"], again["diverged_from_source"]) == (True, True)
        assert again["target_content_hash"] == hashed("changed\n")
        assert (workspace / "a.md").read_text() == "changed\n"
        of_another = await failure(hf, STAGE, source_path="b.md", target_path="a.md")
        assert of_another.field == "overwrite"


@pytest.mark.req("BOA-RES-22")
async def test_paths_are_from_a_root_or_in_full_and_lead_nowhere_else(workspace: Path) -> None:
    async with managed(workspace) as hf:
        full = str(put(workspace, "a/b.md", "one\n"))
        staged = await result(
            hf, STAGE, source_path=full, target_path=str(workspace.resolve() / "c.md")
        )
        assert (staged["source_path"], staged["target_path"]) == ("a/b.md", "c.md")
        bent = await result(hf, STAGE, source_path="./a//b.md", target_path="d.md")
        assert bent["source_path"] == "a/b.md"
        root = str(substrate_of(workspace))
        for path in ("../x", "a/../../x", "/etc/passwd", f"{root}/../x", f"{root}x/a", "a\0b"):
            refused = await failure(hf, STAGE, source_path=path)
            assert refused.kind is FailureKind.INVALID_ARGS, path
        for path in (root, f"{root}/", ".", "./"):
            refused = await failure(hf, STAGE, source_path=path)
            assert (refused.kind, "not a file" in refused.message) == (
                FailureKind.INVALID_ARGS,
                True,
            )
        for path in ("../x", "/etc/passwd", str(workspace.resolve())):
            refused = await failure(hf, COMPARE, session_path=path)
            assert refused.kind is FailureKind.INVALID_ARGS
        refused = await failure(hf, STAGE, source_path="a")
        assert "directory" in refused.message


async def test_no_link_is_followed_on_either_side(workspace: Path) -> None:
    async with managed(workspace) as hf:
        real = put(workspace, "a.md", "one\n")
        (substrate_of(workspace) / "link.md").symlink_to(real)
        (workspace / "link.md").symlink_to(workspace / "mine.md")
        (workspace / "mine.md").write_text("mine\n")
        (workspace / "folder").symlink_to(workspace)
        for tool, arguments in (
            (STAGE, {"source_path": "link.md", "target_path": "x.md"}),
            (PROMOTE, {"source_path": "link.md"}),
            (PROMOTE, {"source_path": "mine.md", "target_path": "link.md", "overwrite": True}),
            (COMPARE, {"session_path": "folder/mine.md", "substrate_path": "a.md"}),
        ):
            refused = await failure(hf, tool, **arguments)
            assert (refused.kind, "link" in refused.message) == (FailureKind.REJECTED, True)
        assert real.read_text() == "one\n"


@pytest.mark.req("BOA-RES-10", "BOA-RES-13")
async def test_a_file_is_shared_as_a_new_version(workspace: Path) -> None:
    async with managed(workspace) as hf:
        first = await promoted(hf, "notes/a.md", "one\n")
        version = first["version_id"]
        assert first["outcome_evaluation"]["status"] == "missing_outcome"
        assert {key: first[key] for key in first if key != "outcome_evaluation"} == {
            "source_path": "notes/a.md",
            "target_path": "notes/a.md",
            "bytes": 4,
            "version_id": version,
            "previous_version_id": None,
            "content_hash": hashed("one\n"),
            "artifact_path": str(_artifact(workspace, hf.session_id)),
        }
        assert (substrate_of(workspace) / "notes" / "a.md").read_text() == "one\n"
        await result(hf, "write", path="notes/a.md", content="two\n")
        refused = await failure(hf, PROMOTE, source_path="notes/a.md")
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "overwrite")
        assert (substrate_of(workspace) / "notes" / "a.md").read_text() == "one\n"
        second = await result(hf, PROMOTE, source_path="notes/a.md", overwrite=True)
        assert second["previous_version_id"] == version
        assert (substrate_of(workspace) / "notes" / "a.md").read_text() == "two\n"
        told = [one for one in await events_of(hf) if isinstance(one, ResourcePromoted)]
        assert [one.version_id for one in told] == [version, second["version_id"]]
        async with managed(workspace) as other:  # every session of the agent has it
            read = await result(other, "read", path=str(substrate_of(workspace) / "notes" / "a.md"))
            assert read["text"] == "two\n"


async def test_the_mode_of_a_shared_file_stays_and_a_new_one_is_not_to_be_run(
    workspace: Path,
) -> None:
    async with managed(workspace) as hf:
        await result(hf, "write", path="run.sh", content="true\n")
        (workspace / "run.sh").chmod(0o755)
        await result(hf, PROMOTE, source_path="run.sh")
        shared = substrate_of(workspace) / "run.sh"
        assert shared.stat().st_mode & 0o777 == 0o644
        shared.chmod(0o640)
        await result(hf, "write", path="run.sh", content="false\n")
        await result(hf, PROMOTE, source_path="run.sh", overwrite=True)
        assert (shared.read_text(), shared.stat().st_mode & 0o777) == ("false\n", 0o640)


@pytest.mark.req("BOA-RES-06", "BOA-RES-07")
async def test_a_comparison_tells_where_both_differ_and_what_is_newest(workspace: Path) -> None:
    async with managed(workspace) as hf:
        first = await promoted(hf, "a.md", "one\ntwo\nthree\n")
        (workspace / "a.md").write_text("one\n2\nthree\nfour\n")
        told = await result(hf, COMPARE, session_path="a.md")
        assert told["latest_version"]["version_id"] == first["version_id"]
        assert told["latest_version"]["content_hash"] == first["content_hash"]
        assert {key: told[key] for key in told if key not in ("latest_version", "next_step")} == {
            "session_path": "a.md",
            "substrate_path": "a.md",
            "identical": False,
            "substrate_exists": True,
            "session_char_count": 17,
            "substrate_char_count": 14,
            "session_content_hash": hashed("one\n2\nthree\nfour\n"),
            "substrate_content_hash": first["content_hash"],
            "differing_line_count": 2,
            "preview": [
                {"line": 2, "session": "2", "substrate": "two"},
                {"line": 4, "session": "four", "substrate": None},
            ],
            "latest_version_id": first["version_id"],
            "promote_precondition": {
                "expected_version_id": first["version_id"],
                "expected_content_hash": first["content_hash"],
                "version_available": True,
                "content_hash_available": True,
            },
        }
        bounded = await result(hf, COMPARE, session_path="a.md", max_preview_lines=1)
        assert (len(bounded["preview"]), bounded["differing_line_count"]) == (1, 2)
        elsewhere = await result(hf, COMPARE, session_path="a.md", substrate_path="none.md")
        assert (elsewhere["substrate_exists"], elsewhere["substrate_content_hash"]) == (False, None)
        done = await result(hf, told["next_step"]["tool"], **told["next_step"]["args"])
        assert done["previous_version_id"] == first["version_id"]
        assert (await result(hf, COMPARE, session_path="a.md"))["identical"] is True


@pytest.mark.req("BOA-RES-08", "BOA-RES-11")
async def test_a_version_that_was_compared_is_what_has_to_be_there(workspace: Path) -> None:
    async with managed(workspace) as hf:
        await promoted(hf, "a.md", "one\n")
        told = await result(hf, COMPARE, session_path="a.md")
        seen = told["latest_version_id"]
        (workspace / "a.md").write_text("two\n")
        arguments = {"source_path": "a.md", "overwrite": True, "expected_version_id": seen}
        await result(hf, PROMOTE, **arguments)
        (workspace / "a.md").write_text("three\n")
        refused = await failure(hf, PROMOTE, **arguments)
        assert refused.kind is FailureKind.EXECUTION_ERROR
        assert "version precondition failed for a.md" in refused.message
        assert seen in refused.message
        assert (substrate_of(workspace) / "a.md").read_text() == "two\n"
        none = await failure(hf, PROMOTE, **arguments, target_path="new.md")
        assert "latest is none" in none.message


@pytest.mark.req("BOA-RES-09", "BOA-RES-12")
async def test_without_versions_the_content_is_what_has_to_be_there(workspace: Path) -> None:
    async with managed(workspace) as hf:
        put(workspace, "a.md", "theirs\n")
        (workspace / "a.md").write_text("ours\n")
        told = (await result(hf, COMPARE, session_path="a.md"))["promote_precondition"]
        assert told == {
            "expected_version_id": None,
            "expected_content_hash": hashed("theirs\n"),
            "version_available": False,
            "content_hash_available": True,
        }
        arguments = {
            "source_path": "a.md",
            "overwrite": True,
            "expected_version_id": told["expected_version_id"],
            "expected_content_hash": told["expected_content_hash"],
        }
        put(workspace, "a.md", "changed\n")
        refused = await failure(hf, PROMOTE, **arguments)
        assert "content precondition failed for a.md" in refused.message
        assert (substrate_of(workspace) / "a.md").read_text() == "changed\n"
        put(workspace, "a.md", "theirs\n")
        done = await result(hf, PROMOTE, **arguments)
        assert (substrate_of(workspace) / "a.md").read_text() == "ours\n"
        # What lay there without a version is one now: nothing that was shared is lost.
        before = await result(hf, "resources_read_version", version_id=done["previous_version_id"])
        assert (before["content"], before["version"]["source"]) == ("theirs\n", "substrate.found")


async def test_a_file_that_is_not_its_newest_version_is_noticed(workspace: Path) -> None:
    async with managed(workspace) as hf:
        first = await promoted(hf, "a.md", "one\n")
        put(workspace, "a.md", "by hand\n")
        (workspace / "a.md").write_text("two\n")
        told = await result(hf, COMPARE, session_path="a.md")
        assert told["latest_version_id"] == first["version_id"]
        assert told["promote_precondition"]["version_available"] is False
        version = first["version_id"]
        refused = await failure(
            *(hf, PROMOTE), source_path="a.md", overwrite=True, expected_version_id=version
        )
        assert "version precondition failed" in refused.message
        done = await result(hf, told["next_step"]["tool"], **told["next_step"]["args"])
        listed = await result(hf, "resources_list_versions", target_path="a.md")
        assert [one["source"] for one in listed["versions"]] == [
            PROMOTE,
            "substrate.found",
            PROMOTE,
        ]
        assert done["previous_version_id"] == listed["versions"][1]["version_id"]


@pytest.mark.req("BOA-RES-24", "BOA-ART-20")
async def test_drafts_are_listed_as_both_files_stand(workspace: Path) -> None:
    async with managed(workspace) as hf:
        for name in ("same", "ready", "gone", "lost"):
            put(workspace, f"{name}.md", "one\n")
            await result(hf, STAGE, source_path=f"{name}.md")
        (workspace / "ready.md").write_text("two\n")
        (workspace / "gone.md").unlink()
        (substrate_of(workspace) / "lost.md").unlink()
        told = await result(hf, "resources_list_staged_drafts")
        stands = {
            one["session_path"]: (
                one["status"],
                one["draft_changed_since_staging"],
                one["substrate_changed_since_staging"],
            )
            for one in told["drafts"]
        }
        assert (told["session_id"], told["count"]) == (hf.session_id, 4)
        assert stands == {
            "same.md": ("in_sync", False, False),
            "ready.md": ("ready", True, False),
            "gone.md": ("draft_missing", True, False),
            "lost.md": ("substrate_missing", False, True),
        }
        shown = json.loads(_artifact(workspace, hf.session_id).read_text())
        assert set(shown["ready.md"]) == {
            *("source_path", "source_content_hash", "target_content_hash", "staged_at")
        }
        await result(hf, PROMOTE, source_path="ready.md", overwrite=True)
        shown = json.loads(_artifact(workspace, hf.session_id).read_text())
        assert shown["ready.md"]["source_content_hash"] == hashed("two\n")
        _artifact(workspace, hf.session_id).write_text('{"forged.md": {}}')
        again = await result(hf, "resources_list_staged_drafts")
        found = {one["session_path"]: one for one in again["drafts"]}
        assert "forged.md" not in found
        ready = found["ready.md"]
        assert (ready["status"], ready["draft_changed_since_staging"]) == ("in_sync", False)


@pytest.mark.req("BOA-RES-24")
async def test_a_draft_that_is_no_file_any_more_hides_no_other(workspace: Path) -> None:
    async with managed(workspace) as hf:
        for name in ("folder", "link", "hidden", "fine"):
            put(workspace, f"{name}.md", "one\n")
            await result(hf, STAGE, source_path=f"{name}.md")
        session = hf.session_id
    (workspace / "folder.md").unlink()
    (workspace / "folder.md").mkdir()
    (substrate_of(workspace) / "link.md").unlink()
    (substrate_of(workspace) / "link.md").symlink_to("fine.md")
    hidden = Rule(
        permission="fs.read",
        pattern=f"{substrate_of(workspace)}/hidden.md",
        action="deny",
        scope="session",
        source="me",
    )
    async with managed(workspace, session=session, rules=[hidden]) as hf:
        told = await result(hf, "resources_list_staged_drafts")
        assert {one["session_path"]: one["status"] for one in told["drafts"]} == {
            "folder.md": "draft_missing",
            "link.md": "substrate_missing",
            "hidden.md": "substrate_missing",
            "fine.md": "in_sync",
        }


async def test_a_draft_knows_where_it_came_from(workspace: Path) -> None:
    async with managed(workspace) as hf:
        put(workspace, "deep/a.md", "one\n")
        await result(hf, STAGE, source_path="deep/a.md", target_path="mine.md")
        (workspace / "mine.md").write_text("two\n")
        assert (await result(hf, COMPARE, session_path="mine.md"))["substrate_path"] == "deep/a.md"
        await result(hf, PROMOTE, source_path="mine.md", overwrite=True)
        assert (substrate_of(workspace) / "deep" / "a.md").read_text() == "two\n"


async def test_without_an_agent_it_is_the_default_agents(workspace: Path) -> None:
    async with managed(workspace, agent=None) as hf:
        mounts = (await result(hf, "resources_list"))["resources"]
        assert mounts[1]["mount_path"] == str(substrate_of(workspace, "default"))


async def test_where_nothing_is_written_down_nothing_is_shared(workspace: Path) -> None:
    async with managed(workspace, settings=UNRECORDED) as hf:
        (workspace / "a.md").write_text("one\n")
        for tool, arguments in ((PROMOTE, {"source_path": "a.md"}), (RESTORE, {"version_id": "x"})):
            assert (await failure(hf, tool, **arguments)).kind is FailureKind.UNAVAILABLE
        assert not (substrate_of(workspace) / "a.md").exists()
