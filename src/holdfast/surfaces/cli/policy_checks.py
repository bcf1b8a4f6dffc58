"""The checks of `holdfast doctor` about policy: trust, remembered answers, watchdog programs.

A state file that cannot be read stops every call, and a program that cannot run refuses every one.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from holdfast.app.configuration import Configuration
from holdfast.app.environment import variables
from holdfast.app.grants import GrantFile
from holdfast.app.locations import PROJECT_FOLDER, state_home
from holdfast.app.problems import ConfigurationError
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.app.trust import TrustFile
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.looks import Finding
from holdfast.surfaces.cli.screen import one_line

_EVERY_CALL = "until then every call is refused"


def check_policy(loaded: Configuration) -> Iterator[Finding]:
    """Whose files count, and can what decides about calls be used?"""
    yield from check_project(loaded)
    trusted = TrustFile(state_home(variables()))
    yield from check_state_file("trust", trusted.path, lambda: _projects(trusted))
    if loaded.project is not None:
        grants = GrantFile(state_home(variables()), loaded.project, loaded.workspace)
        yield from check_state_file("grants", grants.path, lambda: _answers(grants))
    told = surroundings_of_this_process(loaded.settings)
    for argv in filter(None, loaded.settings.watchdog.commands):
        yield check_program(argv, told.environment.get("PATH", os.defpath))


def check_project(loaded: Configuration) -> Iterator[Finding]:
    """Does the project have files of its own, and do they count?"""
    project = loaded.project
    if project is None or not (project / PROJECT_FOLDER).is_dir():
        return
    if loaded.trusted:
        yield Finding("OK", "project", f"{project} is trusted as it is now")
    else:
        step = "run holdfast trust to see its files and let them count"
        yield Finding("OK", "project", f"{project} is not trusted; its files can only narrow", step)


def check_state_file(name: str, path: Path, read: Callable[[], str]) -> Iterator[Finding]:
    """Can it be read, and by nobody else?"""
    try:
        held = read()
        mode = path.stat().st_mode if path.exists() else 0o600
    except (ConfigurationError, OSError) as problem:
        what, _, step = one_line(str(problem)).rpartition("; ")
        yield Finding("FAIL", name, what or step, step)
        return
    if stat.S_IMODE(mode) & 0o077:
        yield Finding("WARN", name, f"{path} is open to others", f"run: chmod 600 {path}")
    else:
        yield Finding("OK", name, held)


def _projects(trusted: TrustFile) -> str:
    known = [Path(project) for project in trusted.load()]
    changed = [project for project in known if not trusted.trusts(project)]
    told = f"{counted(len(known), 'project', zero='no')} trusted"
    if not changed:
        return told
    return f"{told}; changed since: {', '.join(map(str, changed))}"


def _answers(grants: GrantFile) -> str:
    kept = counted(len(grants.load()), "answer", zero="no")
    return f"{kept} remembered for this project"


def check_program(argv: tuple[str, ...], path: str) -> Finding:
    """Can a program of the watchdog be started?"""
    name = "watchdog"
    found = shutil.which(argv[0], path=path)
    if found is not None:
        return Finding("OK", name, found)
    there = Path(argv[0]).is_file()
    what = "it is not executable" if there else "there is no such program"
    step = f"run: chmod +x {argv[0]}" if there else "install it, or correct watchdog.commands"
    return Finding("FAIL", name, f"{argv[0]}: {what}", f"{step}; {_EVERY_CALL}")
