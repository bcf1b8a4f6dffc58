"""Having a conversation summarised because a person wants it, outside of any run.

The log stays whole; only what the model is told from here on changes.
"""

from anyio import CancelScope

from holdfast.agent.asking import Asking, Stopped, Unheard
from holdfast.agent.keeping import Keeper
from holdfast.agent.making_room import MakingRoom
from holdfast.agent.place import Equipment, Workplace
from holdfast.agent.spending import Spending
from holdfast.app.run_watch import RunWatch
from holdfast.runtime.abort import Abort

WAITS = (
    "session {0} waits for the answers to its calls; answer these, or interrupt it, before its"
    " conversation is summarised"
)


async def compacted(
    place: Workplace, equipment: Equipment, keeper: Keeper, abort: Abort, wish: str | None
) -> bool:
    """Have it summarised; False: there is nothing, or somebody interrupted.

    ModelError where the model gives no summary, RuntimeError while calls wait, JournalError.
    """
    run = CancelScope()
    watch = RunWatch(place.log, abort, run)
    made: bool | Unheard | Stopped = False
    try:
        with run:
            await place.log.begin_run()
            session = await (await place.log.journal()).session(place.session_id)
            await keeper.read_up_to(session.sequence)
            if keeper.talk.open_calls:
                raise RuntimeError(WAITS.format(place.session_id))
            ask = Asking(place, equipment, keeper, Spending(equipment.limits, place.clock), abort)
            room = MakingRoom(equipment.model, keeper, ask, place.clean)
            made = await room.compact(wish)
    finally:
        await watch.end()
    if watch.lost is not None:
        raise watch.lost
    if isinstance(made, Unheard):
        raise made.problem
    return made is True
