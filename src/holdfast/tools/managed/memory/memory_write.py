"""`memory_write`: keep a note of this session."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.memory import Memory, MemoryWrite, MemoryWritten, SessionNote
from holdfast.contract.versions import Mode
from holdfast.tools.managed.given import needed, trimmed


@builtin(
    read_only=False,
    destructive=True,
    effects=("memory_write",),
    acp_kind="edit",
    interrupt_behavior="block",
)
async def memory_write(
    target: SessionNote,
    content: str,
    memory: Memory,
    mode: Mode = "replace",
    expected_version_id: str | None = None,
    session_id: str | None = None,
) -> MemoryWritten:
    """Remember something: save notes of a session, which outlive the run.

    Args:
        expected_version_id: Fail unless this is the newest version; `none`: there is none yet.
    """
    wanted = MemoryWrite(
        content=needed("memory_write", "content", content),
        mode=mode,
        expected_version_id=trimmed(expected_version_id),
    )
    return await memory.write(target, wanted, trimmed(session_id))
