"""The sessions of agents that there are, a page at a time, for an editor to choose from."""

from acp.schema import ListSessionsResponse, SessionInfo

from holdfast.app.session_store import NothingStored, opened_store
from holdfast.app.settings import Settings
from holdfast.contract.archive import SessionQuery
from holdfast.contract.journal import Session
from holdfast.contract.session_state import is_bound

PAGE = 50
_ALL = 2**31


class BadCursor(ValueError):
    """A cursor that nobody gave."""


async def sessions_listed(
    settings: Settings, cwd: str | None, cursor: str | None
) -> ListSessionsResponse:
    """Those of a folder, given whole, or of all; the last active first. BadCursor, JournalError."""
    first = _place(cursor)
    try:
        async with opened_store(settings) as store:
            known = await store.archive.sessions(SessionQuery(limit=_ALL))
    except NothingStored:
        known = ()
    fit = [one for one in known if _can_be_opened(one) and cwd in (None, one.state.workspace)]
    page = [_info(one) for one in fit[first : first + PAGE]]
    more = str(first + PAGE) if len(fit) > first + PAGE else None
    return ListSessionsResponse(sessions=page, next_cursor=more)


def _can_be_opened(session: Session) -> bool:
    state = session.state
    is_agents = state.agent_id is not None and state.workspace is not None
    was_used = state.title is not None
    return is_agents and was_used and not is_bound(state) and state.status != "terminated"


def _info(session: Session) -> SessionInfo:
    state = session.state
    return SessionInfo(
        session_id=session.id,
        cwd=state.workspace or "/",
        title=state.title,
        updated_at=session.updated_at.isoformat(),
    )


def _place(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise BadCursor(f"{cursor!r} is no cursor; give the one that came with the page before")
    return int(cursor)
