"""Whether a session can be spoken to: by which words, and through whom, is not known here."""

from holdfast.contract.journal import Session
from holdfast.contract.session_state import is_bound
from holdfast.surfaces.http.house import House
from holdfast.surfaces.http.problems import Problem


def refuse_unspoken(house: House, session: Session) -> None:
    """Problem where nobody in it would hear what is said."""
    refuse_single_calls(house, session)
    if is_bound(session.state):
        raise Problem(
            409,
            f"session {session.id} works for session {session.state.parent_id} alone;"
            " speak to that one",
        )


def refuse_single_calls(house: House, session: Session) -> None:
    """Problem where no agent works in it, as in that of the workbench."""
    if session.state.agent_id is None or session.id == house.opened.workbench.session_id:
        raise Problem(
            409,
            f"session {session.id} is no agent's: it holds single calls",
            "refuse its calls among the approvals, and terminate its commands one by one",
        )
