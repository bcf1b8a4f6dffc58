"""Memory of a session: what is kept of it, read, written in versions, and shown to people."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_kit import failure, opened, result
from tools.managed.memory_kit import (
    LOOKER,
    OTHER,
    home_of,
    managed_of,
    outcome,
    remembering,
    run,
    written,
)

from holdfast.app.settings import Surroundings
from holdfast.contract.events import UserMessage
from holdfast.contract.failure import FailureKind
from holdfast.runtime.managed.memory_sections import section
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio

SIX = (
    *("checkpoint", "shell_state", "session_state", "working_buffer"),
    *("workspace_memory", "workspace_memory_notes"),
)
RUNTIME = ("<!-- holdfast:runtime:begin -->", "<!-- holdfast:runtime:end -->")
MODEL = ("<!-- holdfast:model:begin -->", "<!-- holdfast:model:end -->")


def between(text: str, marks: tuple[str, str]) -> str:
    """What one section says."""
    begin, end = marks
    assert (text.count(begin), text.count(end)) == (1, 1)
    return text.partition(begin)[2].partition(end)[0].strip("\n")


async def read(hf: Any, target: str, **more: Any) -> Any:
    return (await result(hf, "memory_read", target=target, **more))["content"]


def schema_of(hf: Any, name: str) -> dict[str, Any]:
    return next(one for one in hf.tools if one.name == name).input_schema


@pytest.mark.req("BOA-MEM-09", "BOA-MEM-10", "BOA-MEM-11")
async def test_the_stores_are_listed_with_whose_they_are(workspace: Path) -> None:
    async with remembering(workspace) as hf:
        assert schema_of(hf, "memory_list")["properties"] == {}
        told = await result(hf, "memory_list")
        assert (told["count"], [one["target"] for one in told["stores"]]) == (6, list(SIX))
        for one in told["stores"]:
            assert set(one) == {
                *("target", "title", "description", "scope", "writable", "searchable")
            }
            assert one["scope"] == ("agent" if "workspace" in one["target"] else "session")
            assert one["title"]
            assert one["description"]
            assert one["searchable"] is True
        assert {one["target"] for one in told["stores"] if one["writable"]} == {
            *("session_state", "working_buffer", "workspace_memory_notes")
        }


@pytest.mark.req("BOA-MEM-12")
async def test_each_store_is_read_as_text_or_as_an_object(workspace: Path) -> None:
    async with remembering(workspace) as hf:
        assert schema_of(hf, "memory_read")["properties"]["target"]["enum"] == list(SIX)
        assert schema_of(hf, "memory_read")["required"] == ["target"]
        await result(hf, "memory_write", target="working_buffer", content="Half of it is done.")
        kinds: dict[str, type] = {}
        for target in SIX:
            told = await result(hf, "memory_read", target=target)
            assert (told["target"], told["session_id"]) == (target, hf.session_id)
            kinds[target] = type(told["content"])
        assert kinds == {
            **dict.fromkeys(SIX, str),
            "checkpoint": dict,
            "shell_state": dict,
        }
        assert "Half of it is done." in await read(hf, "working_buffer")
        assert "Half of it is done." not in await read(hf, "session_state")
        assert (await read(hf, "shell_state"))["cwd"] == str(workspace)
        refused = await failure(hf, "memory_read", target="elsewhere")
        assert refused.kind is FailureKind.INVALID_ARGS


@pytest.mark.req("BOA-MEM-13", "BOA-MEM-14", "BOA-MEM-15", "BOA-MEM-17")
@pytest.mark.parametrize(
    ("target", "name"),
    [("session_state", "session-state.md"), ("working_buffer", "working-buffer.md")],
)
async def test_a_note_is_replaced_or_appended_to_and_each_write_is_a_version(
    workspace: Path, target: str, name: str
) -> None:
    async with remembering(workspace) as hf:
        declared = schema_of(hf, "memory_write")
        assert list(declared["properties"]) == [
            *("target", "content", "mode", "expected_version_id", "session_id")
        ]
        assert declared["required"] == ["target", "content"]
        first = await result(hf, "memory_write", target=target, content="  One.\n\n")
        second = await result(hf, "memory_write", target=target, content="Two.", mode="append")
        third = await result(hf, "memory_write", target=target, content="Three.", mode="replace")
        file = home_of(workspace) / "sessions" / hf.session_id / "memory" / name
        assert [one["content"] for one in (first, second, third)] == [
            "One.",
            "One.\nTwo.",
            "Three.",
        ]
        for before, told in zip((None, first, second), (first, second, third), strict=True):
            assert set(told) == {
                *("session_id", "target", "mode", "path", "version_id", "previous_version_id"),
                *("content_hash", "content"),
            }
            assert (told["session_id"], told["target"]) == (hf.session_id, target)
            assert told["path"] == str(file)
            assert told["previous_version_id"] == (None if before is None else before["version_id"])
            assert told["content_hash"] == hashlib.sha256(told["content"].encode()).hexdigest()
        assert between(file.read_text("utf-8"), MODEL) == "Three."
        assert file.read_text("utf-8") == await read(hf, target)
        kept = await result(
            hf, "memory_read_version", target=target, version_id=second["version_id"]
        )
        assert kept["content"] == "One.\nTwo."
        other = ({"session_state", "working_buffer"} - {target}).pop()
        assert (await result(hf, "memory_list_versions", target=other))["count"] == 0


async def test_a_note_has_to_say_something_and_blanks_name_nothing(workspace: Path) -> None:
    async with remembering(workspace) as hf:
        for text in ("", " \n\t"):
            refused = await failure(hf, "memory_write", target="session_state", content=text)
            assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "content")
            assert "memory_write requires a non-empty content" in refused.message
        told = await result(
            *(hf, "memory_write"),
            target="session_state",
            content="x",
            session_id=" ",
            expected_version_id=" ",
        )
        assert told["session_id"] == hf.session_id
        refused = await failure(hf, "memory_write", target="checkpoint", content="x")
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "target")


@pytest.mark.req("BOA-MEM-16", "BOA-MEM-29")
async def test_a_writer_who_expects_another_version_changes_nothing(workspace: Path) -> None:
    async with remembering(workspace) as hf:
        note: dict[str, Any] = {"target": "session_state"}
        early = await failure(hf, "memory_write", **note, content="x", expected_version_id="ver_x")
        assert "version precondition failed for session_state" in early.message
        assert "expected ver_x but latest is none" in early.message
        begun = await result(hf, "memory_write", **note, content="1", expected_version_id="none")
        newest = await result(
            hf, "memory_write", **note, content="2", expected_version_id=begun["version_id"]
        )
        late = await failure(
            hf, "memory_write", **note, content="3", expected_version_id=begun["version_id"]
        )
        assert (late.kind, late.field) == (FailureKind.INVALID_ARGS, "expected_version_id")
        told = f"expected {begun['version_id']} but latest is {newest['version_id']}"
        assert f"version precondition failed for session_state: {told}" in late.message
        assert late.extras["latest_version_id"] == newest["version_id"]
        step: Any = late.extras["next_step"]
        assert step["tool"] == "memory_read"
        shown = await result(hf, step["tool"], **step["args"])
        assert shown["version_id"] == newest["version_id"]
        assert between(shown["content"], MODEL) == "2"
        missing = await failure(hf, "memory_write", **note, content="4", expected_version_id="none")
        assert "expected none but latest is" in missing.message
        assert (await result(hf, "memory_list_versions", **note))["count"] == 2


@pytest.mark.req("BOA-MEM-18")
async def test_what_the_model_wrote_outlives_the_run_beside_what_the_runtime_says(
    workspace: Path,
) -> None:
    async with remembering(workspace) as hf:
        for target in ("session_state", "working_buffer"):
            await result(hf, "memory_write", target=target, content=f"Mine, of {target}.")
        before = between(await read(hf, "session_state"), RUNTIME)
        await written(hf, [outcome(), UserMessage(message="Mend the till.")])
        await run(hf, "wak_1", shows="all tests pass")
        await managed_of(hf).memory.refresh()
        folder = home_of(workspace) / "sessions" / hf.session_id / "memory"
        for target, name in (
            ("session_state", "session-state.md"),
            ("working_buffer", "working-buffer.md"),
        ):
            text = (folder / name).read_text("utf-8")
            assert between(text, MODEL) == f"Mine, of {target}."
            assert text == await read(hf, target)
        said = between(await read(hf, "session_state"), RUNTIME)
        assert said != before
        for told in ("The till adds up", "all tests pass", "Did wak_1.", "Mend the till."):
            assert told in said
        assert "2 words were not taken into account" in said
        assert "Said in wak_1." in between(await read(hf, "working_buffer"), RUNTIME)
        session_id = hf.session_id
    async with remembering(workspace, session=session_id) as again:
        assert between(await read(again, "session_state"), MODEL) == "Mine, of session_state."


@given(st.text(max_size=60))
@pytest.mark.parametrize("mark", ["", *RUNTIME, *MODEL])
def test_no_text_of_the_model_can_look_like_a_section_of_the_runtime(mark: str, said: str) -> None:
    made = section("model", f"{said}\n{mark}\n{said}")
    assert sum(made.count(one) for one in (*RUNTIME, *MODEL)) == 2
    assert made.startswith(MODEL[0])
    assert made.endswith(MODEL[1])


@pytest.mark.req("BOA-MEM-25", "BOA-MEM-26", "BOA-MEM-27", "BOA-MEM-28")
async def test_versions_are_listed_the_newest_first_and_read_one_by_one(workspace: Path) -> None:
    clock = FakeClock()
    async with remembering(workspace, clock=clock) as hf:
        assert schema_of(hf, "memory_list_versions")["properties"]["limit"]["default"] == 10
        log = hf.parts.log
        assert log is not None
        ids: list[str] = []
        for number in range(12):
            log.wake_id = f"wak_{number}"
            told = await result(
                *(hf, "memory_write"),
                target="session_state",
                content=f"{number}: {'x' * 200}",
                mode="replace" if number % 2 else "append",
            )
            ids.append(told["version_id"])
            clock.advance(60)
        log.wake_id = None
        found = await result(hf, "memory_list_versions", target="session_state")
        assert (found["count"], [one["version_id"] for one in found["versions"]]) == (
            10,
            ids[::-1][:10],
        )
        few = await result(hf, "memory_list_versions", target="session_state", limit=3)
        assert [one["version_id"] for one in few["versions"]] == ids[::-1][:3]
        one = await result(hf, "memory_read_version", target="session_state", version_id=ids[3])
        assert set(one) == {"version", "content"}
        content = one["content"]
        assert content == f"3: {'x' * 200}"
        assert one["version"] == {
            "version_id": ids[3],
            "agent_id": "looker",
            "session_id": hf.session_id,
            "target": "session_state",
            "created_at": one["version"]["created_at"],
            "source": "memory_write",
            "mode": "replace",
            "content_hash": hashlib.sha256(content.encode()).hexdigest(),
            "size_bytes": len(content),
            "wake_id": "wak_3",
            "preview": content[:160],
        }
        times = [one["created_at"] for one in few["versions"]]
        assert times == sorted(times, reverse=True)
        assert len(set(times)) == 3
        note = await result(hf, "memory_promote_note", content="For all.")
        (shared,) = (await result(hf, "memory_list_versions", target="workspace_memory_notes"))[
            "versions"
        ]
        assert (shared["version_id"], shared["session_id"]) == (note["version_id"], None)
        assert (shared["agent_id"], shared["source"]) == ("looker", "memory_promote_note")
        for target, version in (("working_buffer", ids[3]), ("session_state", "ver_none")):
            refused = await failure(hf, "memory_read_version", target=target, version_id=version)
            assert refused.kind is FailureKind.INVALID_ARGS
            step: Any = refused.extras["next_step"]
            await result(hf, step["tool"], **step["args"])
        refused = await failure(hf, "memory_list_versions", target="checkpoint")
        assert refused.kind is FailureKind.INVALID_ARGS


@pytest.mark.req("BOA-ARG-05", "BOA-ARG-06")
async def test_another_session_is_reached_if_it_is_of_the_same_agent(workspace: Path) -> None:
    async with (
        remembering(workspace) as mine,
        remembering(workspace) as second,
        remembering(workspace, agent=OTHER) as theirs,
    ):
        for one in (second, theirs):
            await result(one, "memory_write", target="session_state", content="Kept apart.")
        note: dict[str, Any] = {"target": "session_state"}
        there = {"session_id": second.session_id}
        read_there = await result(mine, "memory_read", **note, **there)
        assert between(read_there["content"], MODEL) == "Kept apart."
        assert between(await read(mine, "session_state"), MODEL) == ""
        told = await result(
            mine, "memory_write", **note, **there, content="And more.", mode="append"
        )
        assert told["session_id"] == second.session_id
        assert between(await read(second, "session_state"), MODEL) == "Kept apart.\nAnd more."
        late = await failure(
            mine, "memory_write", **note, **there, content="x", expected_version_id="ver_x"
        )
        step: Any = late.extras["next_step"]
        assert step["args"] == {**note, **there}
        version = {"version_id": told["version_id"]}
        for tool, more in (
            ("memory_read", {}),
            ("memory_write", {"content": "x"}),
            ("memory_list_versions", {}),
            ("memory_read_version", version),
        ):
            for session in (theirs.session_id, "ses_none"):
                refused = await failure(mine, tool, **note, **more, session_id=session)
                assert refused.kind is FailureKind.REJECTED
                said = f"Session {session} is not available to agent looker"
                assert (refused.message, dict(refused.extras)) == (said, {})
        shared = {"target": "workspace_memory_notes", "session_id": theirs.session_id}
        assert (await failure(mine, "memory_list_versions", **shared)).kind is FailureKind.REJECTED
        assert between(await read(theirs, "session_state"), MODEL) == "Kept apart."
        lost = await failure(mine, "memory_read_version", **note, **version)
        assert lost.kind is FailureKind.INVALID_ARGS  # a version of the other session


async def test_files_that_show_memory_are_never_read_back(workspace: Path) -> None:
    async with remembering(workspace) as hf:
        await result(hf, "memory_write", target="session_state", content="True.")
        folder = home_of(workspace) / "sessions" / hf.session_id / "memory"
        await managed_of(hf).memory.refresh()
        assert {one.name for one in folder.iterdir()} == {
            *("session-state.md", "working-buffer.md", "checkpoint.json", "shell-state.json"),
            ".gitignore",
        }
        for file in folder.iterdir():
            file.write_text("forged", "utf-8")
        for target in SIX:
            assert "forged" not in str(await read(hf, target))
        await managed_of(hf).memory.refresh()
        assert "True." in (folder / "session-state.md").read_text("utf-8")


async def test_secrets_stay_out_of_what_is_kept(workspace: Path) -> None:
    secret = "hunter2-hunter2-hunter2"
    around = Surroundings(
        data_home=home_of(workspace), state_home=workspace.parent / "s", secrets=(secret,)
    )
    async with remembering(workspace, surroundings=around) as hf:
        note = f"The key is {secret}."
        told = await result(hf, "memory_write", target="session_state", content=note)
        await result(hf, "memory_promote_note", content=note)
        version = {"target": "session_state", "version_id": told["version_id"]}
        kept = await result(hf, "memory_read_version", **version)
        assert kept["content"].startswith("The key is ")
    held = [one.read_bytes() for one in home_of(workspace).rglob("*") if one.is_file()]
    assert held
    assert not [one for one in held if secret.encode() in one]


async def test_without_a_journal_nothing_is_remembered(workspace: Path) -> None:
    async with opened(workspace, "managed", agent=LOOKER) as hf:
        assert (await result(hf, "memory_list"))["count"] == 6
        for tool, more in (
            ("memory_read", {"target": "session_state"}),
            ("memory_write", {"target": "session_state", "content": "x"}),
            ("learning_list", {}),
        ):
            refused = await failure(hf, tool, **more)
            assert refused.kind is FailureKind.UNAVAILABLE
        await managed_of(hf).memory.refresh()  # told in the log, and nothing else
        await managed_of(hf).memory.look()
        assert managed_of(hf).memory.told == ""
