"""The directories that an agent names: found, without links, and none that would give too much.

A root that holds the person's home or holdfast's own files would put keys, grants and journals
within reach of `{workspace}/**`. Nothing is opened here.
"""

from collections.abc import Iterator
from pathlib import Path

from holdfast.app.locations import home_of
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Surroundings
from holdfast.contract.agents import Agent

_CHECK_THE_PATH = "make it, or correct the path"


def further_roots(
    agent: Agent, surroundings: Surroundings, workspace: Path | None
) -> tuple[str, ...]:
    """What `{workspace}` stands for beside the workspace; ConfigurationError names an entry."""
    found: list[Path] = []
    for place, root in enumerate(agent.roots):
        entry = f"agent.{agent.id}.roots[{place}]"
        if workspace is None:
            raise ConfigurationError(
                f"{entry}: a further root needs a workspace to stand beside; open the session with"
                " workspace="
            )
        path = _found(entry, root, surroundings, workspace)
        if not path.is_dir():
            raise ConfigurationError(f"{entry}: {path} is no directory; {_CHECK_THE_PATH}")
        _refuse_too_much(entry, path, surroundings)
        found.append(path)
    return tuple(str(path) for path in dict.fromkeys(found) if path != workspace)


def substrate_of(agent: Agent, surroundings: Surroundings, workspace: Path | None) -> str | None:
    """The directory that all sessions of the agent share; None: it names none.

    What a call may write must not lie in it, or be it.
    """
    if agent.substrate is None:
        return None
    entry = f"agent.{agent.id}.substrate"
    path = _found(entry, agent.substrate, surroundings, workspace)
    if not path.is_dir():
        raise ConfigurationError(f"{entry}: {path} is no directory; {_CHECK_THE_PATH}")
    _refuse_too_much(entry, path, surroundings)
    for root in (*filter(None, (workspace,)), *map(Path, agent.roots)):
        if _real(root).is_relative_to(path):
            raise ConfigurationError(
                f"{entry}: {path} is or contains {root}, where the agent works; name another"
                " directory"
            )
    return str(path)


def adhoc_directories(
    agent: Agent, surroundings: Surroundings, workspace: Path | None
) -> tuple[str, ...]:
    """What `{ad-hoc}` stands for; ConfigurationError names an entry."""
    found: list[Path] = []
    for place, file in enumerate(agent.ad_hoc):
        entry = f"agent.{agent.id}.ad_hoc[{place}]"
        path = _found(entry, file, surroundings, workspace)
        if path.is_dir():
            raise ConfigurationError(f"{entry}: {path} is a directory; name a file in it")
        if not path.parent.is_dir():
            raise ConfigurationError(f"{entry}: there is no {path.parent}; {_CHECK_THE_PATH}")
        _refuse_too_much(entry, path.parent, surroundings)
        found.append(path.parent)
    return tuple(str(path) for path in dict.fromkeys(found))


def skill_folders(agent: Agent) -> tuple[Path, ...]:
    """The folders of skills; ConfigurationError for one that is not there."""
    for place, folder in enumerate(agent.skills):
        if not Path(folder).is_dir():
            raise ConfigurationError(
                f"agent.{agent.id}.skills[{place}]: {folder!r} is no directory; {_CHECK_THE_PATH}"
            )
    return tuple(map(Path, agent.skills))


def _found(entry: str, name: str, surroundings: Surroundings, workspace: Path | None) -> Path:
    """Where a name leads that is absolute, begins at home or in the workspace."""
    path = Path(name)
    if name.startswith("~/"):
        home = home_of(surroundings.environment)
        if home is None:
            raise ConfigurationError(
                f"{entry}: {name}: there is no home directory; name it in full"
            )
        path = home / name[2:]
    elif not name or (workspace is None and not path.is_absolute()):
        raise ConfigurationError(f"{entry}: {name!r} is no absolute path; name it in full")
    try:
        return ((workspace or Path("/")) / path).resolve()
    except (OSError, RuntimeError, ValueError) as problem:
        raise ConfigurationError(f"{entry}: {name!r}: {problem}; {_CHECK_THE_PATH}") from None


def _refuse_too_much(entry: str, path: Path, surroundings: Surroundings) -> None:
    home = home_of(surroundings.environment)
    if home is not None and _real(home).is_relative_to(path):
        raise ConfigurationError(
            f"{entry}: {path} is or contains your home directory; name a directory inside of it"
        )
    for own in _own(surroundings):
        if own.is_relative_to(path):
            raise ConfigurationError(
                f"{entry}: {path} is or contains {own}, where holdfast keeps its own files; name"
                " another directory"
            )
    for kept in filter(None, (surroundings.state_home, surroundings.data_home)):
        if path.is_relative_to(_real(kept)):
            raise ConfigurationError(
                f"{entry}: {path} lies in {kept}, where holdfast keeps its own files; name another"
                " directory"
            )


def _own(surroundings: Surroundings) -> Iterator[Path]:
    homes = (surroundings.config_home, surroundings.state_home, surroundings.data_home)
    return (_real(home) for home in homes if home is not None)


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
