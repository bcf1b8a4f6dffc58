"""Which session is meant by a name: an id, the beginning of one, or `last`.

`last` is the same for every verb: the session that was last active in this workspace. Sessions of
subagents are not meant by it, those that belong to no workspace are.
"""

from argparse import Namespace
from pathlib import Path

from holdfast.contract.archive import LAST, Archive, SessionQuery
from holdfast.contract.journal import Session, UnknownSession
from holdfast.surfaces.cli.parsing import workspace_in

_FIRST_LOOK = 200
_NONE_YET = "there is no session yet"
_ELSEWHERE = (
    "no session has worked in {0}, so that there is no last one here; the last one elsewhere is"
    " {1}, in {2}"
)


async def session_meant(archive: Archive, name: str, arguments: Namespace) -> str:
    """The id of the session that a word of the command line means; UnknownSession."""
    if name != LAST:
        return await archive.called(name)
    return (await last_session(archive, workspace_meant(arguments))).id


def workspace_meant(arguments: Namespace) -> str:
    """Where `last` is looked for: what `--workspace` says, else here; UsageError."""
    given: str | None = getattr(arguments, "workspace", None)
    return str(Path("." if given is None else workspace_in(arguments)).resolve())


async def last_session(archive: Archive, workspace: str) -> Session:
    """The session that was last active in a workspace; UnknownSession."""
    limit = _FIRST_LOOK
    while True:
        known = await archive.sessions(SessionQuery(limit=limit))
        above = [one for one in known if one.state.parent_id is None]
        for one in above:
            if one.state.workspace in (workspace, None):
                return one
        if len(known) < limit:
            break
        limit *= 10
    if not above:
        raise UnknownSession(_NONE_YET)
    raise UnknownSession(_ELSEWHERE.format(workspace, above[0].id, above[0].state.workspace))
