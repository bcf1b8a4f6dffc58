"""The checks of `holdfast doctor`: each looks at one thing and says OK, WARN or FAIL."""

import os
import platform
import re
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast.app.configuration import ConfigurationError, load_configuration
from holdfast.app.environment import variables
from holdfast.app.locations import HOME_VARIABLE, NOWHERE, state_home
from holdfast.app.settings import Settings
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.shell import Confinement
from holdfast.record.unavailable import NO_ROOM, make_room
from holdfast.surfaces.cli.amounts import size_shown
from holdfast.surfaces.cli.looks import Finding
from holdfast.surfaces.cli.policy_checks import check_policy
from holdfast.surfaces.cli.screen import one_line
from holdfast.surfaces.cli.setup_checks import check_setup
from holdfast.surfaces.cli.source_checks import check_notices
from holdfast.surfaces.cli.tool_checks import check_tools

OLDEST_PYTHON = (3, 11)
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)\s*>=\s*(?P<oldest>[0-9.]+)")
_MOVE = f"set {HOME_VARIABLE} to a directory of your own"
_PAGE = 4096
_CALL_BYTES = 256 << 10
"""What a store and its anchors take on the disk for one call."""
_LOW_BYTES = 32 << 20
"""Twice of what is written ahead of the store's file."""


def check_python(running: tuple[int, int] = sys.version_info[:2]) -> Finding:
    """Is the interpreter new enough?"""
    shown = platform.python_version()
    if running >= OLDEST_PYTHON:
        return Finding("OK", "python", shown)
    return Finding("FAIL", "python", f"{shown} is too old", "install Python 3.11 or newer")


def check_system(system: str = platform.system()) -> Finding:
    """Is this an operating system holdfast knows?"""
    if system == "Linux":
        return Finding("OK", "system", f"Linux {platform.release()}")
    if system == "Darwin":
        return Finding(
            "WARN",
            "system",
            "macOS: the kernel sandbox is missing here",
            "run untrusted tools on Linux, or in a container",
        )
    return Finding("FAIL", "system", f"{system} is not supported", "use Linux, macOS or WSL")


def check_dependencies() -> Iterator[Finding]:
    """Are the packages there, and new enough?"""
    for line in requires("holdfast") or ():
        wanted = _REQUIREMENT.match(line)
        if wanted is not None and "extra ==" not in line:
            yield check_package(wanted["name"], wanted["oldest"])


def check_package(name: str, oldest: str) -> Finding:
    """Is this package there, and new enough?"""
    step = f"run: pip install --upgrade '{name}>={oldest}'"
    try:
        there = version(name)
    except PackageNotFoundError:
        return Finding("FAIL", name, "not installed", step)
    if _numbers(there) < _numbers(oldest):
        return Finding("FAIL", name, f"{there} is older than {oldest}", step)
    return Finding("OK", name, there)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", text)]


def check_configuration(workspace: str, overrides: Mapping[str, str]) -> Iterator[Finding]:
    """Can the configuration be read, and was all of it applied?"""
    name = "configuration"
    try:
        loaded = load_configuration(workspace, overrides=overrides)
    except ConfigurationError as problem:
        what, _, step = one_line(str(problem)).rpartition("; ")
        yield Finding("FAIL", name, what or step, step)
        return
    read = ", ".join(str(path) for path in loaded.files)
    yield Finding("OK", name, read or "no files; the defaults hold")
    for notice in loaded.notices:
        what, _, step = one_line(notice).partition("; ")
        yield Finding("WARN", name, f"not applied: {what}", step)
    yield from check_tools(loaded)
    yield from check_policy(loaded)
    yield from check_notices(loaded.server_notices)
    yield from check_setup(loaded.settings)


def configured_confinement(workspace: str, overrides: Mapping[str, str]) -> Confinement | None:
    """The confinement that the configuration names; None also where it cannot be read."""
    try:
        return load_configuration(workspace, overrides=overrides).settings.sandbox.confinement
    except ConfigurationError:
        return None


def check_data_directory(folder: Path | None = None) -> Iterator[Finding]:
    """Can outputs be kept, and only for us?"""
    where = surroundings_of_this_process(Settings()).data_home if folder is None else folder
    return check_folder("data directory", where)


def check_state_directory() -> Iterator[Finding]:
    """Can answers and trust be kept, and only for us?"""
    return check_folder("state directory", state_home(variables()))


def check_folder(name: str, where: Path) -> Iterator[Finding]:
    """Can it be written, and only by us?"""
    if where == NOWHERE:
        yield Finding("FAIL", name, "there is no home directory", _MOVE)
        return
    try:
        facts = where.stat()
    except FileNotFoundError:
        yield _can_be_made(name, where)
        return
    except OSError as problem:
        yield Finding("FAIL", name, f"{where}: {problem.strerror}", _MOVE)
        return
    if not stat.S_ISDIR(facts.st_mode):
        yield Finding("FAIL", name, f"{where} is not a directory", "remove it")
    elif (refused := _refusal(where)) is not None:
        yield _not_written(name, f"{where} cannot be written", where, refused)
    elif facts.st_uid != os.getuid() or facts.st_mode & 0o077:
        step = f"run: chmod 700 {where}" if facts.st_uid == os.getuid() else _MOVE
        yield Finding("WARN", name, f"{where} is open to others", step)
    elif shutil.disk_usage(where).free < _LOW_BYTES:
        left = size_shown(shutil.disk_usage(where).free)
        yield Finding("WARN", name, f"{where}: the disk has {left} left", make_room(where))
    else:
        yield Finding("OK", name, str(where))


def _refusal(folder: Path) -> OSError | None:
    """Try it: permission bits say little about root, read-only mounts and special file systems."""
    try:
        with (
            TemporaryDirectory(prefix=".holdfast-", dir=folder) as tried,
            (Path(tried) / "room").open("wb", buffering=0) as room,
        ):
            for _ in range(_CALL_BYTES // _PAGE):
                room.write(bytes(_PAGE))
    except OSError as problem:
        return problem
    return None


def _not_written(name: str, detail: str, folder: Path, problem: OSError) -> Finding:
    if problem.errno in NO_ROOM:
        full = f"{folder}: the disk is full"
        return Finding("FAIL", name, full, make_room(folder))
    return Finding("FAIL", name, detail, _MOVE)


def _can_be_made(name: str, where: Path) -> Finding:
    nearest = next((folder for folder in where.parents if folder.exists()), Path("/"))
    problem = _refusal(nearest)
    if problem is None:
        return Finding("OK", name, f"{where} (made when needed)")
    detail = f"{where} cannot be made: {nearest} is not writable"
    return _not_written(name, detail, nearest, problem)
