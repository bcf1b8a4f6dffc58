"""`holdfast resume`: go on with an agent's session, where it stopped or with further words.

It goes on as the agent, under the profile and in the workspace it was begun with. Exit status: as
`run`'s.
"""

import shlex
from argparse import Namespace
from pathlib import Path

import anyio

from holdfast.agent.conversation import Conversation
from holdfast.app import session_store
from holdfast.app.agent_settings import DEFAULT_AGENT
from holdfast.app.problems import ConfigurationError
from holdfast.contract.archive import LAST, SessionQuery
from holdfast.contract.journal import Session, UnknownSession
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.surfaces.cli.last_session import last_session, workspace_meant
from holdfast.surfaces.cli.opening import chosen
from holdfast.surfaces.cli.parsing import Parser, UsageError
from holdfast.surfaces.cli.run_checks import check_cost
from holdfast.surfaces.cli.run_options import add_run_options, check_run_options, message_in
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.stores import store_in
from holdfast.surfaces.cli.working import BROKEN, Task, done, rests, worded

_LOOKED_AT = 200
_PAGE = 1000
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
_GONE = (
    "session {0} was begun in {1}, which is no directory any more; say where it is now with"
    " --workspace DIR"
)


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument(
        "words",
        metavar="SESSION TASK",
        nargs="*",
        default=[],
        help="the session, by its id, the beginning of it, or last; then what else is to be done",
    )
    parser.offer("words", [LAST])
    add_run_options(parser)
    parser.set_defaults(workspace=None)


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    try:
        return _gone_on(_task(arguments, screen), screen)
    except BROKEN as problem:
        return worded(problem, screen, as_json=arguments.json)


def _gone_on(task: Task, screen: Screen) -> int:
    """Go on with it; without a model it can still be said that nothing is left to do."""
    try:
        return done(task, screen)
    except ConfigurationError:
        rested = task.message is None and anyio.run(_is_done, task)
        if not rested or task.session is None:
            raise
        return rests(task.session, screen, as_json=task.arguments.json)


def _task(arguments: Namespace, screen: Screen) -> Task:
    check_run_options(arguments)
    name, *words = arguments.words or [LAST]
    given: str | None = arguments.workspace
    arguments.workspace = given or "."
    session = anyio.run(_found, arguments, name, workspace_meant(arguments))
    state = session.state
    workspace = given or state.workspace or "."
    if not Path(workspace).is_dir():
        raise UsageError(_GONE.format(session.id, workspace))
    arguments.workspace = workspace
    agent = arguments.agent or state.agent_id
    if agent != state.agent_id:
        raise UsageError(
            f"session {session.id} belongs to the agent {state.agent_id!r}, and --agent says"
            f" {agent!r}; leave --agent out"
        )
    arguments.profile = arguments.profile or state.profile
    arguments.model = arguments.model or state.model
    opened = chosen(arguments, screen)
    settings = opened.configuration.settings
    check_cost(settings, agent, arguments.model, arguments.max_cost)
    configured = agent in settings.agent
    return Task(
        arguments=arguments,
        chosen=opened,
        workspace=workspace,
        agent=agent if configured or agent != DEFAULT_AGENT else None,
        session=session.id,
        seen=session.sequence,
        message=message_in(words, screen.remark),
    )


async def _found(arguments: Namespace, name: str, here: str) -> Session:
    """The session that is meant, and that can be run; UsageError, JournalError."""
    async with store_in(arguments) as store:
        session = await _called(store, name, arguments, here)
        if session.state.agent_id is None:
            raise UsageError(await _no_agent(store, session.id, here))
    state = session.state
    if state.parent_id is not None:
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


async def _is_done(task: Task) -> bool:
    """Whether nothing is left to do in a session, by what is written down of it."""
    session_id = task.session or ""
    talk = Conversation()
    async with store_in(task.arguments) as store:
        state = (await store.journal.session(session_id)).state
        if state.pending or state.calls or state.wakes or state.interrupts:
            return False
        while page := await store.journal.events(session_id, after=talk.sequence, limit=_PAGE):
            talk.take(page)
    return not (talk.unseen or talk.open_calls or talk.background)
