"""Where the hands of an agent's sessions are shown what is known of them: a folder each.

What the files say, and whether they are there as yet, is not known here.
"""

from pathlib import Path

from holdfast.contract.journal import Session
from holdfast.contract.managed.artifact_names import ARTIFACTS
from holdfast.runtime.managed.ground import Ground


def artifacts_of(ground: Ground, session: Session, own: Session) -> Path | None:
    """Where a session is shown to its hand: as the calling one is, in the session's workspace."""
    folder = ground.artifacts
    if folder is None or session.id == own.id:
        return folder
    if own.state.workspace is None or session.state.workspace is None:
        return None
    below = Path(own.state.workspace)
    if folder.name != own.id or not folder.is_relative_to(below):
        return None
    return Path(session.state.workspace) / folder.relative_to(below).with_name(session.id)


def artifact_paths(folder: Path, what: str) -> tuple[str, ...]:
    """The files that show something, by its name in ARTIFACTS."""
    return tuple(str(folder / name) for name in ARTIFACTS[what])


async def shown_of(ground: Ground, session_id: str | None, *what: str) -> tuple[str, ...]:
    """The files that show a session's own hand these, by their names in ARTIFACTS."""
    own = await ground.session()
    session = own if session_id is None else await ground.session(session_id)
    folder = artifacts_of(ground, session, own)
    if folder is None:
        return ()
    return tuple(path for one in what for path in artifact_paths(folder, one))
