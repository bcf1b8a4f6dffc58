"""In which folders skills are looked for, the nearest first. It opens none of them.

The project's, from the workspace up to its root; the person's own; those that the program brings
along; those that the configuration names. A project's skills are instructions of whoever wrote the
project: they count once a person trusts it, or has said that they do.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from holdfast.app.configuration import Configuration
from holdfast.app.locations import home_of, project_root
from holdfast.app.settings import Surroundings

PLACES = (".agents/skills", ".claude/skills")


class SkillPlaces(msgspec.Struct, frozen=True):
    """Where to look, and what is not looked at."""

    folders: tuple[Path, ...]
    remarks: tuple[str, ...] = ()


def skill_places(
    configuration: Configuration,
    surroundings: Surroundings,
    workspace: str | None,
    bundled: Iterable[str | Path] = (),
) -> SkillPlaces:
    """The folders of a session, in the order in which the first of a name wins."""
    wanted = configuration.settings.skills
    home = home_of(surroundings.environment) if surroundings.environment else None
    projects, remarks = _inside(tuple(_upward(workspace, home)), workspace)
    counts = wanted.project == "always" or (wanted.project == "trusted" and configuration.trusted)
    if not counts:
        there = [folder for folder in projects if folder.is_dir()]
        if there and wanted.project == "trusted":
            remarks += (
                f"{there[0]}: its skills are not offered, as nobody trusts the project; run"
                " holdfast trust, or set skills.project = 'always' in your own configuration",
            )
        projects = ()
    own = () if home is None else tuple(home / place for place in PLACES)
    named = tuple(Path(path) for path in wanted.paths)
    return SkillPlaces((*projects, *own, *map(Path, bundled), *named), remarks)


def _inside(
    folders: tuple[Path, ...], workspace: str | None
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Those that lie in the project itself; of the others a remark."""
    root = None if workspace is None else project_root(Path(workspace)).resolve()
    kept: list[Path] = []
    remarks: list[str] = []
    for folder in folders:
        if root is not None and _real(folder).is_relative_to(root):
            kept.append(folder)
        else:
            remarks.append(f"{folder}: it leads out of the project, and is passed over")
    return tuple(kept), tuple(remarks)


def _real(folder: Path) -> Path:
    try:
        return folder.resolve()
    except (OSError, RuntimeError):
        return Path("/")


def _upward(workspace: str | None, home: Path | None) -> Iterator[Path]:
    if workspace is None:
        return
    start = Path(workspace)
    root = project_root(start)
    for folder in (start, *start.parents):
        if folder != home:  # those are the person's own, and come later
            yield from (folder / place for place in PLACES)
        if folder == root:
            return
