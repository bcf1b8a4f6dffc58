"""Which session of an agent can be run from here, and as whom; why not, where it cannot."""

import shlex
from argparse import Namespace

from holdfast.app import session_store
from holdfast.app.agent_settings import DEFAULT_AGENT
from holdfast.app.settings import Settings
from holdfast.contract.archive import LAST, SessionQuery
from holdfast.contract.journal import Session, UnknownSession
from holdfast.contract.session_state import is_bound
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.surfaces.cli.last_session import last_session
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.stores import store_in

_LOOKED_AT = 200
_ID = "ses_"
_NO_AGENT = (
    "session {0} is not an agent's: calls were settled in it, and nobody ran; begin one with:"
    ' holdfast run "TASK"'
)
_BELOW = "session {0} is a subagent's, below session {1}; go on with that one: holdfast resume {1}"
_RUNS = (
    "session {0} is run by {1}; watch it with: holdfast sessions watch {0}; it can be taken up"
    " once that has ended"
)
_OVER = 'session {0} is closed; begin another one with: holdfast run "TASK"'
_OTHER = "; the last one of an agent here is: holdfast resume {0}"
_TO_THE_LAST = "to say it to the last one of this workspace, write:"


def agent_of(session: Session, settings: Settings) -> str | None:
    """The agent that it belongs to; None: the one that whoever declares none has."""
    agent = session.state.agent_id
    return None if agent == DEFAULT_AGENT and agent not in settings.agent else agent


async def session_to_run(arguments: Namespace, name: str, here: str) -> Session:
    """The session that is meant, and that can be run; UsageError, JournalError."""
    async with store_in(arguments) as store:
        session = await _called(store, name, arguments, here)
        if session.state.agent_id is None:
            raise UsageError(await _no_agent(store, session.id, here))
    state = session.state
    if is_bound(state):
        raise UsageError(_BELOW.format(session.id, state.parent_id))
    if state.status == "terminated":
        raise UsageError(_OVER.format(session.id))
    lease = session.lease
    if lease is not None and session_store.runner_of(lease, SystemClock()) == "somebody":
        raise UsageError(_RUNS.format(session.id, lease.holder))
    return session


async def _called(store: Store, name: str, arguments: Namespace, here: str) -> Session:
    if name == LAST:
        return await last_session(store.archive, here)
    try:
        return await store.journal.session(await store.archive.called(name))
    except UnknownSession as problem:
        if name.startswith(_ID):
            raise
        said = shlex.quote(" ".join(arguments.words))
        raise UsageError(f"{problem}; {_TO_THE_LAST} holdfast resume {LAST} {said}") from None


async def _no_agent(store: Store, session_id: str, here: str) -> str:
    """What to say of a session that nobody runs: there may be another one here."""
    known = await store.archive.sessions(SessionQuery(limit=_LOOKED_AT))
    of_agents = (one for one in known if one.state.agent_id and one.state.parent_id is None)
    other = next((one.id for one in of_agents if one.state.workspace == here), None)
    return _NO_AGENT.format(session_id) + ("" if other is None else _OTHER.format(other))
