"""The folder in which a machine has the files of a session that it took up. Blocking.

What of it is to be used, and when it is made again, is not known here.
"""

import logging
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from holdfast.execution.files import packing

_log = logging.getLogger("holdfast")

FILES = "files"
SET_ASIDE = "set-aside"
STAYS = "stays"
_WORKING = "working"
_STAGED = "staged-"
UNUSED_NS = 7 * 86_400_000_000_000
"""What nobody used for so long goes."""


def look_at(copy: Path, limits: "packing.PackLimits", now_ns: int) -> "packing.Packed | None":
    """What is in a copy; None: nothing that could be used."""
    look = packing.Packing(str(copy), limits, now_ns)
    try:
        for _batch in look.batches(frozenset()):
            pass
    except (OSError, packing.NotKeepable):
        return None
    return look.packed


def new_folder(home: Path) -> Path:
    """An empty one for files that are made again; what an attempt before has left goes."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in home.glob(f"{_STAGED}*"):
        remove(left)
    staged = home / f"{_STAGED}{secrets.token_hex(6)}"
    staged.mkdir(mode=0o700)
    return staged


def exchange(home: Path, staged: Path) -> None:
    """What was made stands where the copy was. A program that ends in between leaves no copy."""
    copy, aside, old = home / FILES, home / SET_ASIDE, staged.with_name(f"{staged.name}-old")
    if not (home / _WORKING).exists():
        if copy.is_symlink() or copy.exists():
            copy.rename(old)
        staged.rename(copy)
        remove(old)
        if aside.exists() and aside.stat().st_mtime_ns < home.stat().st_mtime_ns - UNUSED_NS:
            remove(aside)
        return
    if copy.is_symlink() or copy.exists():
        remove(aside)
        copy.rename(aside)
        os.utime(aside, follow_symlinks=False)
    (home / _WORKING).unlink()
    staged.rename(copy)
    _log.warning("what was changed in %s and not kept is in %s", copy, aside)


def remove(folder: Path) -> None:
    """Through no link; what cannot go stays."""
    with suppress(OSError):
        if folder.is_symlink():
            folder.unlink()
        folder.chmod(0o700)
        for inner in _closed_folders(folder):
            inner.chmod(0o700)
        shutil.rmtree(folder)


def _closed_folders(folder: Path) -> Iterator[Path]:
    for place, inner, _files in os.walk(folder):
        for name in inner:
            found = Path(place, name)
            if not found.is_symlink() and found.stat().st_mode & 0o700 != 0o700:
                yield found


def write_place(home: Path, place: str) -> None:
    """Say that the files of a session are here alone, under a name that the journal knows."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = home / f".{STAYS}"
    part.write_text(place, encoding="ascii")
    part.replace(home / STAYS)


def is_place(home: Path, place: str, path: str) -> bool:
    """Whether they are here, under that name."""
    try:
        return (home / STAYS).read_text(encoding="ascii") == place and Path(path).is_dir()
    except (OSError, UnicodeDecodeError):
        return False


def identity(path: str) -> tuple[int, int] | None:
    """Which folder stands there; None: none does."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def begin_work(copy: Path) -> None:
    """From here on there may be what is kept nowhere else. Does nothing where there is no copy."""
    if copy.parent.is_dir():
        (copy.parent / _WORKING).touch(mode=0o600)


def end_work(copy: Path) -> None:
    """All of it is kept."""
    (copy.parent / _WORKING).unlink(missing_ok=True)


def is_marked(home: Path) -> bool:
    """Whether files were here alone, of a session that is not known any more."""
    return (home / STAYS).exists()


def used(home: Path) -> None:
    """Somebody uses what is here, or is about to."""
    with suppress(OSError):  # it is told once it is wanted
        os.utime(home)


def unused(folder: Path, before_ns: int) -> list[Path]:
    """What nobody used since then."""
    found: list[Path] = []
    with suppress(FileNotFoundError, NotADirectoryError):
        for home in folder.iterdir():
            with suppress(FileNotFoundError):
                if home.stat().st_mtime_ns < before_ns:
                    found.append(home)
    return found
