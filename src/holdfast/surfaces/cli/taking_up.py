"""How somebody at the command line goes on with a session that nobody runs.

An agent's is gone on with by `holdfast resume`; one of single calls only by a program.
"""

from collections.abc import Sequence

from holdfast.contract.journal import Session


def how_to_take_up(session: Session) -> str:
    """What to write to go on with it."""
    state = session.state
    if state.agent_id is None:
        return f"Holdfast(session={session.id!r}) and resume() in a program"
    return f"holdfast resume {state.parent_id or session.id}"


def left_words(sessions: Sequence[Session]) -> str:
    """What to do about sessions that ended in the middle of something."""
    if len(sessions) == 1:
        return f"its program is gone: take it up with {how_to_take_up(sessions[0])}"
    if any(one.state.agent_id is not None for one in sessions):
        return "their programs are gone: take one up with holdfast resume ID"
    return "their programs are gone: take one up with Holdfast(session=ID) in a program"
