"""`holdfast sessions compact`: have the conversation of an agent summarised for its model.

What was written down stays whole. Exit status: 0 it is, or nothing was said; 1 it failed.
"""

from argparse import Namespace

from holdfast.app.agent_work import Work, opened_agent
from holdfast.contract.model import ModelError
from holdfast.surfaces.cli.last_session import workspace_meant
from holdfast.surfaces.cli.opening import USUAL_PROFILE, configured
from holdfast.surfaces.cli.runnable import agent_of, session_to_run
from holdfast.surfaces.cli.screen import Screen

_FAILED = 1
_DONE = "{0}: a summary stands for what was said before; the model is told that from now on."
_NOTHING = "{0}: there is nothing to sum up."


async def compact(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    name, *wish = arguments.words
    session = await session_to_run(arguments, name, workspace_meant(arguments))
    state = session.state
    arguments.workspace = state.workspace or arguments.workspace
    configuration = configured(arguments, screen)
    work = Work(
        profile=state.profile or USUAL_PROFILE,
        workspace=arguments.workspace,
        agent=agent_of(session, configuration.settings),
        model=arguments.model or state.model,
        session=session.id,
    )
    try:
        async with opened_agent(work, configuration=configuration) as opened:
            done = await opened.session.compact(wish[0] if wish else None)
    except (ModelError, RuntimeError) as problem:
        screen.remark(str(problem))
        if arguments.json:
            screen.json_line({"error": str(problem)})
        return _FAILED
    if arguments.json:
        screen.document({"session_id": session.id, "compacted": done})
    else:
        screen.raw((_DONE if done else _NOTHING).format(session.id))
    return 0
