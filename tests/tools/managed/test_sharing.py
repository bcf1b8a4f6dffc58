"""Sharing under conditions: the order of checks, the gate, one writer at a time, sudden ends."""

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from tool_kit import failure, result
from tools.managed.shared_kit import (
    SPACE,
    Approves,
    events_of,
    home_of,
    managed,
    promoted,
    store_of,
    substrate_of,
    wants,
)

from holdfast.contract.failure import FailureKind
from holdfast.contract.managed_events import ResourcePromoted
from holdfast.contract.rules import Action, Rule
from holdfast.contract.versions import MAX_CONTENT_BYTES, Origin, content_hash
from holdfast.execution.files.write_lease import Doing, WriteLease
from holdfast.runtime.managed.write_leases import SessionLease

pytestmark = pytest.mark.anyio

PROMOTE, RESTORE = "resources_promote_to_substrate", "resources_restore_version"


def lease_of(workspace: Path, session_id: str = "ses_other") -> SessionLease:
    folder = home_of(workspace) / "data" / "leases"
    return SessionLease(folder, str(substrate_of(workspace)), session_id)


@pytest.mark.req("BOA-POL-03", "BOA-POL-07")
async def test_sharing_always_asks(workspace: Path) -> None:
    async with managed(workspace, approver=None) as hf:
        (workspace / "a.md").write_text("one\n")
        for tool, arguments in ((PROMOTE, {"source_path": "a.md"}), (RESTORE, {"version_id": "x"})):
            refused = await failure(hf, tool, **arguments)
            assert refused.kind is FailureKind.REJECTED
            assert "approval" in refused.message
        assert list(substrate_of(workspace).iterdir()) == []
        asks = {one.name for one in hf.tools if one.permission_policy == "always_ask"}
        assert {PROMOTE, RESTORE} <= asks
        assert "resources_stage_from_substrate" not in asks


@pytest.mark.req("BOA-GATE-02", "BOA-GATE-03", "BOA-GATE-06")
async def test_an_outcome_that_is_not_reached_keeps_files_from_being_shared(
    workspace: Path,
) -> None:
    async with managed(workspace) as hf:
        first = await promoted(hf, "a.md", "one\n")
        await promoted(hf, "a.md", "two\n", overwrite=True)
        await wants(hf)
        (workspace / "a.md").write_text("three\n")
        for tool, arguments in (
            (PROMOTE, {"source_path": "a.md", "overwrite": True}),
            (RESTORE, {"version_id": first["version_id"]}),
        ):
            refused = await failure(hf, tool, **arguments)
            assert refused.kind is FailureKind.REJECTED
            assert tool in refused.message
            assert "requires outcome_evaluate to return status=pass" in refused.message
            assert refused.extras["outcome_status"] == "not_ready"
            assert refused.extras["outcome_summary"]
            assert refused.extras["next_step"]
        assert (substrate_of(workspace) / "a.md").read_text() == "two\n"
        assert len(await (await store_of(hf)).history(SPACE, "a.md")) == 2


@pytest.mark.req("BOA-GATE-04")
async def test_the_gate_can_be_asked_for_and_overridden_and_a_person_sees_it(
    workspace: Path,
) -> None:
    approver = Approves()
    async with managed(workspace, approver=approver) as hf:
        (workspace / "a.md").write_text("one\n")
        always = await failure(hf, PROMOTE, source_path="a.md", require_outcome_pass=True)
        assert "status=pass" in always.message  # although there is no outcome
        await wants(hf)
        absent = await failure(hf, PROMOTE, source_path="a.md")
        assert "status=pass" in absent.message
        assert approver.asked == []  # what the gate refuses is put to nobody
        done = await result(hf, PROMOTE, source_path="a.md", require_outcome_pass=False)
        assert "overridden" in approver.asked[-1].reason
        assert done["outcome_evaluation"]["status"] == "not_ready"
        (told,) = [one for one in await events_of(hf) if isinstance(one, ResourcePromoted)]
        assert told.overridden is True


@pytest.mark.req("BOA-GATE-05")
async def test_the_version_comes_first_then_the_content_then_the_gate(workspace: Path) -> None:
    async with managed(workspace) as hf:
        first = await promoted(hf, "a.md", "one\n")
        await wants(hf)
        (workspace / "a.md").write_text("two\n")
        wrong: dict[str, Any] = {"expected_version_id": "x", "expected_content_hash": "x"}
        ours = {"source_path": "a.md"}
        for tool, arguments in ((PROMOTE, ours), (RESTORE, {"version_id": first["version_id"]})):
            right = {"expected_version_id": first["version_id"]}
            said = [
                await failure(hf, tool, **arguments, **wrong),
                await failure(hf, tool, **arguments, **{**wrong, **right}),
                await failure(hf, tool, **arguments, **right),
            ]
            words = ("version precondition", "content precondition", "status=pass")
            assert all(word in one.message for word, one in zip(words, said, strict=True))
        assert (substrate_of(workspace) / "a.md").read_text() == "one\n"
        assert len(await (await store_of(hf)).history(SPACE, "a.md")) == 1


@pytest.mark.req("BOA-SBOX-10")
async def test_whoever_finds_another_session_writing_is_told_at_once(workspace: Path) -> None:
    async with managed(workspace) as hf:
        (workspace / "a.md").write_text("one\n")
        async with lease_of(workspace).held():
            refused = await failure(hf, PROMOTE, source_path="a.md")
            assert refused.kind is FailureKind.UNAVAILABLE
            root = substrate_of(workspace)
            said = f"Write access to {root} is currently busy with another session"
            assert refused.message == said
            assert list(root.iterdir()) == []
        await result(hf, PROMOTE, source_path="a.md")


@pytest.mark.req("BOA-SBOX-11")
async def test_a_lease_names_its_owner_ends_with_it_and_is_had_again_by_its_session(
    workspace: Path,
) -> None:
    lease = lease_of(workspace, "ses_1")
    async with lease.held() as one, lease.held() as same:
        assert one is same
        text = lease.file.read_text()
        assert '"session_id":"ses_1"' in text
        assert f'"process_id":{os.getpid()}' in text
    holds = (
        "import sys, pathlib; from holdfast.execution.files.write_lease import WriteLease\n"
        "WriteLease(pathlib.Path(sys.argv[1]), 'ses_gone'); print('held', flush=True)\n"
        "sys.stdin.read()"
    )
    command = [sys.executable, "-c", holds, str(lease.file)]
    process = await anyio.open_process(command)
    async with process:
        assert process.stdout is not None
        assert (await process.stdout.receive()).startswith(b"held")
        async with managed(workspace) as hf:
            (workspace / "a.md").write_text("one\n")
            assert "busy" in (await failure(hf, PROMOTE, source_path="a.md")).message
            process.kill()
            await process.wait()
            await result(hf, PROMOTE, source_path="a.md")


async def test_of_two_writers_who_expect_the_same_one_fails(workspace: Path) -> None:
    async with managed(workspace) as hf, managed(workspace) as other:
        first = await promoted(hf, "a.md", "one\n")
        (workspace / "b.md").write_text("b\n")
        (workspace / "c.md").write_text("c\n")
        ended: list[Any] = []

        async def share(whose: Any, path: str) -> None:
            arguments = {
                "source_path": path,
                "target_path": "a.md",
                "overwrite": True,
                "expected_version_id": first["version_id"],
            }
            ended.append(await whose.settle(PROMOTE, arguments))

        async with anyio.create_task_group() as group:
            for whose, path in ((hf, "b.md"), (hf, "c.md"), (other, "b.md"), (other, "c.md")):
                group.start_soon(share, whose, path)
        assert [one.failure is None for one in ended].count(True) == 1
        assert len(await (await store_of(hf)).history(SPACE, "a.md")) == 2
        newest = await (await store_of(hf)).newest(SPACE, "a.md")
        assert newest is not None
        assert (substrate_of(workspace) / "a.md").read_bytes() == newest.content


@pytest.mark.parametrize("by_hand", [False, True])
async def test_what_a_program_that_ended_had_kept_is_put_in_place(
    workspace: Path, *, by_hand: bool
) -> None:
    """It had noted what it does and kept the version; the file was not there yet."""
    async with managed(workspace) as hf:
        first = await promoted(hf, "a.md", "one\n")
        store = await store_of(hf)
        file = lease_of(workspace).file
        with WriteLease(file, "ses_gone") as gone:
            gone.doing(
                Doing(
                    target="a.md",
                    content_hash=content_hash(b"two\n"),
                    before_hash=content_hash(b"one\n"),
                    previous_version_id=first["version_id"],
                )
            )
            await store.write(SPACE, "a.md", b"two\n", origin=Origin(source="gone"))
        shared = substrate_of(workspace) / "a.md"
        if by_hand:
            shared.write_text("a person's\n")
        await promoted(hf, "b.md", "b\n")
        assert shared.read_text() == ("a person's\n" if by_hand else "two\n")
        assert "doing" not in file.read_text()
        told = await result(hf, "resources_compare_with_substrate", session_path="a.md")
        assert told["promote_precondition"]["version_available"] is not by_hand


async def test_what_was_noted_and_never_kept_is_forgotten(workspace: Path) -> None:
    async with managed(workspace) as hf:
        await promoted(hf, "a.md", "one\n")
        with WriteLease(lease_of(workspace).file, "ses_gone") as gone:
            gone.doing(Doing(target="a.md", content_hash="x", before_hash=content_hash(b"one\n")))
        await promoted(hf, "b.md", "b\n")
        assert (substrate_of(workspace) / "a.md").read_text() == "one\n"


async def test_a_place_that_cannot_be_written_leaves_no_version(workspace: Path) -> None:
    async with managed(workspace) as hf:
        (substrate_of(workspace) / "a").write_text("a file\n")
        (workspace / "b.md").write_text("b\n")
        await failure(hf, PROMOTE, source_path="b.md", target_path="a/b.md")
        assert await (await store_of(hf)).history(SPACE, "a/b.md") == ()
        assert [one.name for one in substrate_of(workspace).iterdir()] == ["a"]


@pytest.mark.parametrize("is_now", ["a link", "a folder", "too large"])
async def test_what_cannot_be_finished_keeps_nobody_from_sharing(
    workspace: Path, caplog: pytest.LogCaptureFixture, is_now: str
) -> None:
    async with managed(workspace) as hf:
        await promoted(hf, "a.md", "one\n")
        shared, file = substrate_of(workspace) / "a.md", lease_of(workspace).file
        with WriteLease(file, "ses_gone") as gone:
            gone.doing(Doing(target="a.md", content_hash="x"))
        shared.unlink()
        if is_now == "a link":
            shared.symlink_to("/etc/hostname")
        elif is_now == "a folder":
            shared.mkdir()
        else:
            with shared.open("wb") as grown:
                grown.truncate(MAX_CONTENT_BYTES + 1)
        await promoted(hf, "b.md", "b\n")
        assert "doing" not in file.read_text()
        assert "shared file a.md was left as it is" in caplog.text
        assert shared.is_symlink() or shared.is_dir() or shared.stat().st_size > MAX_CONTENT_BYTES


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("MEMORY.md", "memory_promote_note"),
        ("./memory.MD", "memory_promote_note"),
        ("MEMORY.md/part.md", "memory_promote_note"),
        (".git/hooks/pre-commit", "another target_path"),
        ("a/.GIT/config", "another target_path"),
        ("a/.Holdfast-runtime/x", "another target_path"),
    ],
)
async def test_what_means_something_to_others_is_not_shared_as_a_file(
    workspace: Path, target: str, said: str
) -> None:
    async with managed(workspace) as hf:
        (workspace / "a.md").write_text("run anything\n")
        shared = substrate_of(workspace)
        before = {one: one.read_bytes() for one in shared.rglob("*") if one.is_file()}
        refused = await failure(hf, PROMOTE, source_path="a.md", target_path=target, overwrite=True)
        assert refused.kind is FailureKind.REJECTED
        assert said in refused.message
        name = target.removeprefix("./")
        kept = await (await store_of(hf)).write(SPACE, name, b"old\n", origin=Origin(source="x"))
        refused = await failure(hf, RESTORE, version_id=kept.id)
        assert (refused.kind, said in refused.message) == (FailureKind.REJECTED, True)
        assert {one: one.read_bytes() for one in shared.rglob("*") if one.is_file()} == before
        await result(hf, PROMOTE, source_path="a.md", target_path="a/MEMORY.md")
        await result(hf, PROMOTE, source_path="a.md", target_path="a/.gitignore")


def locked(workspace: Path, action: Action) -> Rule:
    pattern = f"{substrate_of(workspace)}/locked/**"
    return Rule(permission="fs.write", pattern=pattern, action=action, scope="session", source="me")


@pytest.mark.parametrize("through_a_link", [False, True])
async def test_a_rule_keeps_files_from_being_shared_in_a_place(
    workspace: Path, *, through_a_link: bool
) -> None:
    async with managed(workspace, rules=[locked(workspace, "deny")]) as hf:
        (workspace / "a.md").write_text("one\n")
        inner = substrate_of(workspace) / "locked"
        inner.mkdir()
        if through_a_link:
            (substrate_of(workspace) / "open").symlink_to(inner)
        target = "open/a.md" if through_a_link else "locked/a.md"
        refused = await failure(hf, PROMOTE, source_path="a.md", target_path=target)
        assert refused.kind is FailureKind.REJECTED
        assert "denies" in refused.message
        kept = await (await store_of(hf)).write(SPACE, target, b"old\n", origin=Origin(source="x"))
        refused = await failure(hf, RESTORE, version_id=kept.id)
        assert (refused.kind, "denies" in refused.message) == (FailureKind.REJECTED, True)
        assert list(inner.iterdir()) == []
        await result(hf, PROMOTE, source_path="a.md", target_path="unlocked/a.md")


async def test_a_rule_that_asks_is_content_with_whoever_confirms_the_sharing(
    workspace: Path,
) -> None:
    async with managed(workspace, rules=[locked(workspace, "ask")]) as hf:
        await promoted(hf, "a.md", "one\n", target_path="locked/a.md")
        assert (substrate_of(workspace) / "locked" / "a.md").read_text() == "one\n"
