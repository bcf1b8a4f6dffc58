"""The bounds of what sessions share as notes: how long it may be, and who may share it."""

from pathlib import Path

import pytest
from tool_kit import failure, result
from tools.managed.memory_kit import home_of, remembering

from holdfast import Holdfast, Subagent
from holdfast.contract.failure import FailureKind
from holdfast.execution.files.shared_file import LARGEST
from holdfast.runtime.managed.note_versions import MOST_SHARED

pytestmark = pytest.mark.anyio

PEOPLE = b"# Ours\r\n\r\nAsk Ada first.\r\n"


async def shared(hf: Holdfast) -> str:
    return (await result(hf, "memory_read", target="workspace_memory"))["content"]


async def how_many(hf: Holdfast) -> int:
    return (await result(hf, "memory_list_versions", target="workspace_memory_notes"))["count"]


async def test_notes_are_bounded_so_that_what_shows_them_can_be_read(workspace: Path) -> None:
    async with remembering(workspace) as hf:
        await result(hf, "memory_promote_note", content="x" * MOST_SHARED)
        for mode, content in (("append", "y"), ("replace", "é" * (MOST_SHARED // 2 + 1))):
            refused = await failure(hf, "memory_promote_note", content=content, mode=mode)
            assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "content")
            assert "nothing was written" in refused.message
        assert await how_many(hf) == 1
        assert "x" * MOST_SHARED in await shared(hf)


async def test_a_memory_that_grew_too_large_is_healed_by_shorter_notes(workspace: Path) -> None:
    async with remembering(workspace) as hf:
        await result(hf, "memory_promote_note", content="long")
        path = home_of(workspace) / "agents" / "looker" / "substrate" / "MEMORY.md"
        path.write_bytes(path.read_bytes().replace(b"long", b"x" * LARGEST) + PEOPLE)
        refused = await failure(hf, "memory_read", target="workspace_memory")
        assert "larger than" in refused.message
        await result(hf, "memory_promote_note", content="short")
        assert "## Notes\n\nshort\n" in await shared(hf)
        assert PEOPLE in path.read_bytes()


async def test_a_session_that_works_for_another_one_shares_no_notes(workspace: Path) -> None:
    async def promotes(child: Holdfast, _prompt: str) -> str:
        refused = await failure(child, "memory_promote_note", content="from below")
        assert refused.kind is FailureKind.REJECTED
        assert "works for another one" in refused.message
        return "refused"

    helper = Subagent(run=promotes, description="Helps.", profile="managed")
    async with remembering(workspace, subagents={"kid": helper}) as hf:
        ended = await result(hf, "task", prompt="Go.", subagent_type="kid")
        assert "refused" in str(ended)
        assert await how_many(hf) == 0
