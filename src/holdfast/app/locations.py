"""Where holdfast's own files are, from the variables it is told. It opens none of them."""

import pwd
from collections.abc import Mapping
from os import getuid
from pathlib import Path

HOME_VARIABLE = "HOLDFAST_HOME"
"""Moves everything: configuration, stored outputs, state."""

CONFIG_NAME = "config.toml"
PROJECT_FOLDER = ".holdfast"

NOWHERE = Path("/dev/null/holdfast")
"""Stands for a directory when there is no home at all: nothing can ever be written there."""


def home_of(environment: Mapping[str, str]) -> Path | None:
    """The person's home directory, also where HOME is unset; None when they have none."""
    named = environment.get("HOME")
    if named:
        return Path(named)
    try:
        return Path(pwd.getpwuid(getuid()).pw_dir)
    except KeyError:
        return None


def user_file(environment: Mapping[str, str]) -> Path | None:
    """The person's own configuration file, whether or not it exists."""
    moved = environment.get(HOME_VARIABLE)
    if moved:
        return Path(moved).absolute() / CONFIG_NAME
    folder = _base(environment, "XDG_CONFIG_HOME", ".config")
    return None if folder is None else folder / "holdfast" / CONFIG_NAME


def data_home(environment: Mapping[str, str]) -> Path:
    """Where outputs and journals are kept, whether or not it exists."""
    return _kept(environment, "data", "XDG_DATA_HOME", ".local/share")


def state_home(environment: Mapping[str, str]) -> Path:
    """Where what people decided is kept: grants and trust. Never in a workspace."""
    return _kept(environment, "state", "XDG_STATE_HOME", ".local/state")


def runtime_homes(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Where what lasts as long as a person's login may be: as they say, and as machines have it."""
    named = environment.get("XDG_RUNTIME_DIR", "")
    usual = Path("/run/user") / str(getuid())
    said = [Path(named)] if Path(named).is_absolute() else []
    return tuple(dict.fromkeys(one / "holdfast" for one in (*said, usual)))


def _kept(environment: Mapping[str, str], name: str, variable: str, below_home: str) -> Path:
    moved = environment.get(HOME_VARIABLE)
    if moved:
        return Path(moved).absolute() / name
    folder = _base(environment, variable, below_home)
    return NOWHERE if folder is None else folder / "holdfast"


def project_file(workspace: str | Path | None) -> Path | None:
    """The configuration file of the project around a directory, whether or not it exists."""
    try:
        start = Path(workspace or "").resolve()
    except (FileNotFoundError, OSError, RuntimeError):
        return None  # the working directory was removed under us
    return project_root(start) / PROJECT_FOLDER / CONFIG_NAME


def project_root(start: Path) -> Path:
    """The git root above a directory, else the directory itself."""
    for folder in (start, *start.parents):
        try:
            if (folder / ".git").exists():
                return folder
        except OSError:
            break
    return start


def _base(environment: Mapping[str, str], variable: str, below_home: str) -> Path | None:
    named = environment.get(variable)
    # The standard says that a relative path there is to be ignored.
    if named and Path(named).is_absolute():
        return Path(named)
    home = home_of(environment)
    return None if home is None else home / below_home
