"""Starting a loop: at once and read later, or awaited. What it stands on is handed in."""

from functools import partial

from holdfast.agent.flow.background import BACKGROUND
from holdfast.agent.flow.loop_session import LoopSession, inside
from holdfast.agent.flow.ports import Opening
from holdfast.agent.flow.rounds import Rounds, run_rounds
from holdfast.runtime.flow_session import Session


def begin_loop(user: Session, agent: Session, wanted: Rounds, opening: Opening) -> LoopSession:
    """Begin in the background; the session comes back at once, and its rows when they are read."""
    out = LoopSession.of(user, agent)
    return out.begun(BACKGROUND.start(partial(_run, out, wanted, opening)))


async def awaited_loop(
    user: Session, agent: Session, wanted: Rounds, opening: Opening
) -> LoopSession:
    """The same in the event loop of whoever awaits it."""
    if isinstance(user, LoopSession):
        await user.waited()
    out = LoopSession.of(user, agent)
    await _run(out, wanted, opening)
    return out


async def _run(out: LoopSession, wanted: Rounds, opening: Opening) -> None:
    with inside(out):
        async with opening(out) as ground:
            await run_rounds(out, wanted, ground)
