"""What becomes of a session whose rows a model told again in short. The model is not known here."""

from holdfast.contract.chunks import AssistantChunk, Lineage, UserChunk
from holdfast.contract.transcript import TokenUsage
from holdfast.runtime.flow_session import Session

_OPERATOR = "run_session_compress"


def compressed(
    user: Session, agent: Session, reply: AssistantChunk, usage: TokenUsage | None = None
) -> Session:
    """A session with the reply as its one USER row, on the user's sandbox, with both as parents.

    RuntimeError when the model called tools although it was given none, or said nothing.
    """
    if reply.tool_calls:
        raise RuntimeError(f"{_OPERATOR}: model returned tool calls but tools are disabled")
    text = (reply.content or "").strip()
    if not text:
        raise RuntimeError(f"{_OPERATOR}: model returned no text; ask again or keep the session")
    lineage = Lineage(
        parent_session_ids=(user.id, agent.id),
        operator=_OPERATOR,
        kind="op_session_compress",
        extras=(("compress.rows", len(user.chunk_table)),),
    )
    return user.derive((UserChunk(text),), lineage, usage)
