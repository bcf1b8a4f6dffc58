"""Versions of shared files: listed, read again, brought back."""

import base64
from pathlib import Path
from typing import Any

import pytest
from tool_kit import failure, result
from tools.managed.shared_kit import events_of, home_of, managed, promoted, substrate_of

from holdfast.app.settings import Surroundings
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import MOST_EVENTS
from holdfast.contract.managed_events import ResourceStaged
from holdfast.contract.versions import content_hash

pytestmark = pytest.mark.anyio

COMPARE = "resources_compare_with_substrate"
PROMOTE, RESTORE = "resources_promote_to_substrate", "resources_restore_version"


def hashed(text: str) -> str:
    return content_hash(text.encode())


@pytest.mark.req("BOA-RES-14", "BOA-RES-15", "BOA-RES-16")
async def test_versions_are_listed_newest_first_and_read_again(workspace: Path) -> None:
    async with managed(workspace) as hf:
        made = [await promoted(hf, "a.md", f"{n}\n", overwrite=True) for n in range(3)]
        ids = [one["version_id"] for one in made]
        for path in ("a.md", "./a.md", str(substrate_of(workspace) / "a.md")):
            listed = await result(hf, "resources_list_versions", target_path=path)
            assert listed["target_path"] == "a.md"
            assert [one["version_id"] for one in listed["versions"]] == ids[::-1]
        few = await result(hf, "resources_list_versions", target_path="a.md", limit=2)
        assert (few["count"], len(few["versions"])) == (2, 2)
        declared = next(one for one in hf.tools if one.name == "resources_list_versions")
        properties: Any = declared.input_schema["properties"]
        assert properties["limit"]["default"] == 10
        read = await result(hf, "resources_read_version", version_id=ids[0])
        assert (read["content"], read["encoding"]) == ("0\n", "utf-8")
        assert read["version"]["version_id"] == ids[0]
        assert (await failure(hf, "resources_read_version", version_id="x")).kind is (
            FailureKind.NOT_FOUND
        )


@pytest.mark.req("BOA-RES-17")
async def test_binary_content_comes_back_unchanged(workspace: Path) -> None:
    content = bytes(range(256))
    async with managed(workspace) as hf:
        (workspace / "a.bin").write_bytes(content)
        first = await result(hf, PROMOTE, source_path="a.bin")
        (workspace / "a.bin").write_bytes(b"\xff")
        await result(hf, PROMOTE, source_path="a.bin", overwrite=True)
        read = await result(hf, "resources_read_version", version_id=first["version_id"])
        assert read["encoding"] == "base64"
        assert base64.b64decode(read["content"]) == content
        await result(hf, RESTORE, version_id=first["version_id"])
        assert (substrate_of(workspace) / "a.bin").read_bytes() == content
        compared = await result(hf, COMPARE, session_path="a.bin")
        assert (compared["differing_line_count"], compared["preview"]) == (None, [])
        assert (compared["identical"], compared["session_char_count"]) == (False, None)


@pytest.mark.req("BOA-RES-18", "BOA-RES-19", "BOA-RES-20", "BOA-RES-21")
async def test_an_older_version_comes_back_as_a_new_one(workspace: Path) -> None:
    async with managed(workspace) as hf:
        first = await promoted(hf, "a.md", "one\n")
        second = await promoted(hf, "a.md", "two\n", overwrite=True)
        old, new = first["version_id"], second["version_id"]
        for wrong in ({"expected_version_id": old}, {"expected_content_hash": hashed("one\n")}):
            refused = await failure(hf, RESTORE, version_id=old, **wrong)
            assert "precondition failed for a.md" in refused.message
            listed = await result(hf, "resources_list_versions", target_path="a.md")
            assert listed["count"] == 2
            assert (substrate_of(workspace) / "a.md").read_text() == "two\n"
        told = await result(
            *(hf, RESTORE),
            version_id=old,
            expected_version_id=new,
            expected_content_hash=hashed("two\n"),
        )
        assert told["outcome_evaluation"]["status"] == "missing_outcome"
        assert {key: told[key] for key in told if key != "outcome_evaluation"} == {
            "restored_from_version_id": old,
            "target_path": "a.md",
            "bytes": 4,
            "version_id": told["version_id"],
            "previous_version_id": new,
            "content_hash": hashed("one\n"),
        }
        assert (substrate_of(workspace) / "a.md").read_text() == "one\n"
        newest = (await result(hf, "resources_list_versions", target_path="a.md"))["versions"][0]
        assert (newest["version_id"], newest["restored_from_version_id"]) == (
            told["version_id"],
            old,
        )
        (said,) = [one for one in await events_of(hf) if getattr(one, "restored_from", None)]
        assert (said.restored_from, said.version_id) == (old, told["version_id"])
        (substrate_of(workspace) / "a.md").unlink()
        await result(hf, RESTORE, version_id=new)
        assert (substrate_of(workspace) / "a.md").read_text() == "two\n"


@pytest.mark.req("BOA-RES-11")
async def test_that_nothing_is_shared_yet_can_be_expected(workspace: Path) -> None:
    async with managed(workspace) as hf:
        (workspace / "a.md").write_text("one\n")
        (substrate_of(workspace) / "found.md").write_text("theirs\n")
        arguments = {"source_path": "a.md", "overwrite": True, "expected_version_id": "none"}
        await result(hf, PROMOTE, **arguments, target_path="new.md")
        for target in ("new.md", "found.md"):
            refused = await failure(hf, PROMOTE, **arguments, target_path=target)
            assert "expected none but latest is" in refused.message
            assert refused.extras["reason"] == "stale"
        assert (substrate_of(workspace) / "found.md").read_text() == "theirs\n"


async def test_no_part_of_a_secret_is_told_where_a_version_is_cut(workspace: Path) -> None:
    home = home_of(workspace)
    around = Surroundings(
        data_home=home / "data", state_home=home / "state", secrets=("hunter2hunter2",)
    )
    async with managed(workspace, surroundings=around) as hf:
        for place in (140, 150, 153, 160):
            (workspace / "a.md").write_text(f"{'x' * place}hunter2hunter2 and more\n")
            await result(hf, PROMOTE, source_path="a.md", overwrite=True)
        (workspace / "a.md").write_text("short\n")
        await result(hf, PROMOTE, source_path="a.md", overwrite=True)
        listed = await result(hf, "resources_list_versions", target_path="a.md")
        previews = [one["preview"] for one in listed["versions"]]
        assert (len(previews), previews[0]) == (5, "short\n")
        assert not [one for one in previews if "hunter" in one]
        assert all(one.endswith("…") for one in previews[1:])


async def test_a_draft_is_known_however_many_came_after_it(workspace: Path) -> None:
    async with managed(workspace) as hf:
        assert hf.parts.log is not None
        (substrate_of(workspace) / "a.md").write_text("one\n")
        await result(hf, "resources_stage_from_substrate", source_path="a.md")
        again = ResourceStaged(
            source_path="b.md", target_path="b.md", source_hash="x", target_hash="y"
        )
        await hf.parts.log.append([again] * MOST_EVENTS)
        told = await result(hf, "resources_list_staged_drafts")
        assert {one["session_path"] for one in told["drafts"]} == {"a.md", "b.md"}
