"""`holdfast resume`: go on with an agent's session, where it stopped or with further words.

It goes on as the agent, under the profile and in the workspace it was begun with. Exit status: as
`run`'s.
"""

from argparse import Namespace, RawDescriptionHelpFormatter
from pathlib import Path

import anyio

from holdfast.agent.conversation import Conversation
from holdfast.app import bringing
from holdfast.app.problems import ConfigurationError
from holdfast.contract.archive import LAST
from holdfast.surfaces.cli.last_session import workspace_meant
from holdfast.surfaces.cli.opening import chosen, configured
from holdfast.surfaces.cli.parsing import Parser, UsageError
from holdfast.surfaces.cli.run_checks import check_cost
from holdfast.surfaces.cli.run_options import add_run_options, check_run_options, message_in
from holdfast.surfaces.cli.runnable import agent_of, session_to_run
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.stores import store_in
from holdfast.surfaces.cli.working import BROKEN, Task, done, rests, worded

_PAGE = 1000
_GONE = (
    "session {0} was begun in {1}, which is no directory any more; say where it is now with"
    " --workspace DIR"
)

_EXAMPLES = """examples:
  holdfast resume                              go on with the last session of this workspace
  holdfast resume last "And the docs, too."    with something more to do
  holdfast resume last --screen                on the whole screen; ? shows the keys"""


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
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


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
    session = anyio.run(session_to_run, arguments, name, workspace_meant(arguments))
    state = session.state
    workspace = given or state.workspace or "."
    if not Path(workspace).is_dir():
        carried = None if given else _carried(arguments, screen, session.id)
        if carried is None:
            raise UsageError(_GONE.format(session.id, workspace))
        workspace = carried
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
    return Task(
        arguments=arguments,
        chosen=opened,
        workspace=workspace,
        agent=agent_of(session, settings),
        session=session.id,
        seen=session.sequence,
        message=message_in(words, screen.remark),
    )


def _carried(arguments: Namespace, screen: Screen, session_id: str) -> str | None:
    """Where the files of a session begun elsewhere are here; None: they are not carried."""
    settings = configured(arguments, screen).settings
    return anyio.run(bringing.brought_to, settings, session_id)


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
