"""`memory_promote_note`: keep a note for all sessions of the agent."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.memory import Memory, MemoryWrite, NotePromoted
from holdfast.contract.versions import Mode
from holdfast.tools.managed.given import needed, trimmed


@builtin(
    read_only=False,
    destructive=True,
    effects=("memory_write",),
    acp_kind="edit",
    interrupt_behavior="block",
    permission_policy="always_ask",
)
async def memory_promote_note(
    content: str,
    memory: Memory,
    mode: Mode = "replace",
    require_outcome_pass: bool | None = None,  # noqa: FBT001 - a model names every argument
    expected_version_id: str | None = None,
) -> NotePromoted:
    """Remember for all sessions: write the notes section of MEMORY.md; a person confirms it.

    With an outcome, outcome_evaluate has to say pass first.

    Args:
        require_outcome_pass: false overrides that, true asks for it in any case.
    """
    wanted = MemoryWrite(
        content=needed("memory_promote_note", "content", content),
        mode=mode,
        expected_version_id=trimmed(expected_version_id),
    )
    return await memory.promote(wanted, required=require_outcome_pass)
