"""A session told again in short: one completion without tools, and what becomes of it."""

from holdfast.agent.flow.asking import asked
from holdfast.agent.flow.loop_session import LoopSession
from holdfast.agent.flow.rounds import reply_row, usage_of
from holdfast.contract.chunks import ChunkTable, UserChunk
from holdfast.contract.model import ChatModel
from holdfast.runtime.flow_compress import compressed
from holdfast.runtime.flow_session import Session

INSTRUCTION = (
    "Tell the conversation above again in short, so that somebody who reads only that can go on"
    " with the work: what is wanted, what was decided and found out, what was done, and what is"
    " still open. Keep names, paths and numbers exact. Answer with that text alone."
)


async def compress(
    user: Session, agent: Session, model: ChatModel, instruction: str = INSTRUCTION
) -> Session:
    """A new session with one USER row; RuntimeError when the model called tools or said nothing."""
    if isinstance(user, LoopSession):
        await user.waited()
    rows = ChunkTable((*agent.chunk_table, *user.chunk_table, UserChunk(instruction)))
    reply = await asked(model, rows, ())
    return compressed(user, agent, reply_row(reply), usage_of(reply))
