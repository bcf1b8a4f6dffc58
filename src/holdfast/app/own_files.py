"""Files that speak for a person: is their home there, and can nobody else write them?

Whoever can write a rule, a grant or a trusted project into them decides what runs. What stands in
them is not known here.
"""

import os
import pwd
import stat
from collections.abc import Mapping
from pathlib import Path

from holdfast.app.locations import HOME_VARIABLE
from holdfast.app.problems import ConfigurationError


def check_home(environment: Mapping[str, str]) -> None:
    """Raise ConfigurationError for a home that was named and is none: its rules would be missed."""
    named = environment.get(HOME_VARIABLE)
    if not named:
        return
    try:
        mode = Path(named).stat().st_mode
    except FileNotFoundError:
        raise ConfigurationError(
            f"{HOME_VARIABLE}={named}: there is no such directory, so none of your settings and"
            f" rules would count; correct the variable, or run: mkdir -p -m 700 {named}"
        ) from None
    except OSError as problem:
        raise ConfigurationError(
            f"{HOME_VARIABLE}={named}: it cannot be looked at ({problem.strerror});"
            " correct the variable"
        ) from None
    if not stat.S_ISDIR(mode):
        raise ConfigurationError(
            f"{HOME_VARIABLE}={named}: it is not a directory; name the directory that holds your"
            " config.toml and policy.toml"
        )
    closed = closed_folder(Path(named) / "config.toml")
    if closed is not None:
        raise ConfigurationError(closed)


def closed_folder(path: Path) -> str | None:
    """Which of the folders above a file keeps this user out, whose it is, and what to do; None."""
    for folder in reversed(path.absolute().parents):
        try:
            owner = folder.stat().st_uid
        except OSError:
            return None  # it is not there
        if not os.access(folder, os.X_OK):
            return (
                f"{folder}: you may not read this folder, which belongs to {_named(owner)}; let"
                f" {HOME_VARIABLE} name a folder of your own"
            )
    return None


def _named(owner: int) -> str:
    if owner == os.geteuid():
        return "you (its mode keeps you out)"
    try:
        return pwd.getpwuid(owner).pw_name
    except KeyError:
        return f"user {owner}"


def refuse_shared(path: Path | None) -> None:
    """Raise ConfigurationError for a file that everybody can write, or that is somebody else's."""
    if path is not None and is_anothers(path):
        raise ConfigurationError(
            f"{path}: it belongs to another user, who would decide what may run; make it your own"
        )
    shared = None if path is None else open_to_all(path)
    if shared is not None:
        raise ConfigurationError(
            f"{path}: everybody on this machine can write {shared}, and so decide what may run;"
            f" run: chmod o-w {shared}"
        )


def is_anothers(path: Path) -> bool:
    """Whether the file is another user's, other than the super-user, who decides anyhow."""
    try:
        owner = path.stat().st_uid
    except OSError:
        return False
    return os.geteuid() not in (0, owner) and owner != 0


def open_to_all(path: Path) -> Path | None:
    """What everybody can write of the file and its folder; None when nothing, or there is no file.

    A folder counts because the file in it could be exchanged.
    """
    for one in (path, path.parent):
        try:
            mode = one.stat().st_mode
        except OSError:
            return None
        # Only of a folder does that bit mean that nobody else's files are exchanged there.
        kept = stat.S_ISDIR(mode) and mode & stat.S_ISVTX
        if mode & stat.S_IWOTH and not kept:
            return one
    return None
