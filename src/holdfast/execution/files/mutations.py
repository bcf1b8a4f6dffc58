"""Changes of physical paths, each recorded before it happens. Raises OSError where they fail.

ELOOP: a link has appeared in the path. ESTALE: somebody else changed the file meanwhile. Whether a
path may be changed is not known here.
"""

import errno
import os
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from typing import NamedTuple

from holdfast.execution.files.changes import ABSENT, State, observed
from holdfast.execution.files.opening import (
    READABLE_FOLDER,
    Spot,
    open_entry,
    open_physical,
    refuse_other_than_file,
)
from holdfast.execution.files.placing import (
    Look,
    aside_name,
    make_last,
    put,
    put_new,
    written_aside,
)
from holdfast.execution.files.recorder import Recorder


class NewContent(NamedTuple):
    """What is to be in a file."""

    pieces: Iterable[bytes]
    revision: str
    mode: int | None = None
    """Permissions; without any the old file's."""


class Expected(NamedTuple):
    """What has to be there, or the file is left alone."""

    new: bool = False
    """Nothing."""
    revision: str | None = None
    """A file with this content."""


ANYTHING = Expected()


def write_file(
    spot: Spot, content: NewContent, recorder: Recorder, expected: Expected = ANYTHING
) -> State:
    """Put a whole file in place; gives what was there."""
    with recorder.changing():
        _refuse_unexpected(spot, expected)
        before = recorder.before(spot)
        if expected.revision not in (None, before.revision):
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        if expected.new and before != ABSENT:
            # Made since it was looked for.
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        after = State(kind="file", mode=content.mode, revision=content.revision)
        aside = spot.beside(aside_name())
        with recorder.recorded(spot, before, after, aside.name), ExitStack() as opened:
            like = None if before == ABSENT else opened.enter_context(spot.content())
            with written_aside(aside, content.pieces, Look(like, content.mode)):
                if before == ABSENT:
                    _put_where_nothing_is(aside, spot, expected)
                else:
                    _refuse_changed(spot, before)
                    put(aside, spot)
        make_last(spot.folder)
        return before


def _put_where_nothing_is(aside: Spot, spot: Spot, expected: Expected) -> None:
    try:
        put_new(aside, spot)
    except FileExistsError:
        if expected.new:
            raise
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE)) from None


def _refuse_unexpected(spot: Spot, expected: Expected) -> None:
    seen = spot.look()
    if seen is None:
        if expected.revision is not None:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return
    refuse_other_than_file(seen.st_mode)
    if expected.new:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def _refuse_changed(spot: Spot, before: State) -> None:
    """What was kept has to be what is replaced, or undo would bring back something else."""
    if not observed(spot).holds_the_same(before):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))


def remove_entry(spot: Spot, recorder: Recorder) -> None:
    """Remove a file, a link itself or an empty directory."""
    with recorder.changing():
        before = recorder.before(spot)
        if before == ABSENT:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        with recorder.recorded(spot, before, ABSENT):
            _refuse_changed(spot, before)
            if before.kind == "directory":
                os.rmdir(spot.name, dir_fd=spot.folder)
            else:
                os.unlink(spot.name, dir_fd=spot.folder)
        make_last(spot.folder)


def make_link(spot: Spot, target: str, recorder: Recorder) -> None:
    """Put a link back where nothing is."""
    with recorder.recorded(spot, ABSENT, State(kind="link", target=target)):
        os.symlink(target, spot.name, dir_fd=spot.folder)
    make_last(spot.folder)


def open_folder(path: str, recorder: Recorder) -> int:
    """Open a directory to change it, made with all that is missing above it."""
    missing: list[str] = []
    while True:
        try:
            folder = open_physical(path, READABLE_FOLDER)
            break
        except FileNotFoundError:
            above, _, name = path.rpartition("/")
            path = above or "/"
            missing.append(name)
    try:
        for name in reversed(missing):
            path = f"{path.rstrip('/')}/{name}"
            made = make_folder(Spot(folder, name, path), recorder)
            os.close(folder)
            folder = made
    except BaseException:
        os.close(folder)
        raise
    return folder


def make_folder(spot: Spot, recorder: Recorder, mode: int | None = None) -> int:
    """Make one directory, unless it is there, and open it."""
    with recorder.changing():
        if spot.look() is None:
            # When another was faster, what is there now is opened below, unless it is a link.
            with suppress(FileExistsError):
                with recorder.recorded(spot, ABSENT, State(kind="directory", mode=mode)):
                    os.mkdir(spot.name, dir_fd=spot.folder)
                make_last(spot.folder)
    folder = open_entry(spot.folder, spot.name, READABLE_FOLDER)
    if mode is not None:
        os.fchmod(folder, mode)
    return folder
