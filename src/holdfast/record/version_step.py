"""From one version to the next: what is the same for every store, inside of its lock.

Nothing is read or written here.
"""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from holdfast.contract.journal import JournalUnavailable
from holdfast.contract.versions import (
    ANYTHING,
    MAX_NAME_BYTES,
    ContentTooLarge,
    Expected,
    Kept,
    Mode,
    Origin,
    UnusableName,
    Version,
    appended,
    check,
    content_hash,
    preview,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Writing(NamedTuple):
    """What somebody wants to write."""

    space: str
    target: str
    content: bytes
    origin: Origin
    mode: Mode = "replace"
    expected: Expected = ANYTHING
    restored_from: str | None = None


class Stamp(NamedTuple):
    """What a new version gets of its own."""

    id: str
    micros: int


class Row(NamedTuple):
    """A version as a table holds it, its columns in order."""

    space: str
    target: str
    number: int
    id: str
    micros: int
    mode: Mode
    source: str
    session_id: str | None
    wake_id: str | None
    content_hash: str
    size_bytes: int
    preview: str
    previous_id: str | None
    restored_from: str | None


def check_names(*names: str) -> None:
    """Raise UnusableName for what not every store could keep."""
    for name in names:
        if not _is_keepable(name):
            raise UnusableName(
                f"{name[:80]!r} is no name: it has to be UTF-8 text without NUL,"
                f" of 1 to {MAX_NAME_BYTES} bytes"
            )


def check_writing(writing: Writing) -> None:
    """The same for all names in it."""
    origin = writing.origin
    given = (writing.space, writing.target, origin.source, origin.session_id, origin.wake_id)
    check_names(*(name for name in given if name is not None))


def next_version(
    newest: Version | None, before: bytes, writing: Writing, stamp: Stamp, most_bytes: int
) -> Kept:
    """What follows the newest version, whose content is ``before``: asked for only to append."""
    check(writing.expected, writing.target, newest)
    content = appended(before, writing.content) if writing.mode == "append" else writing.content
    if len(content) > most_bytes:
        raise ContentTooLarge(
            f"{writing.target} would hold {len(content)} bytes, and at most {most_bytes} are kept;"
            " write less, or to several targets"
        )
    version = Version(
        id=stamp.id,
        space=writing.space,
        target=writing.target,
        number=1 if newest is None else newest.number + 1,
        at=_EPOCH + timedelta(microseconds=stamp.micros),
        mode=writing.mode,
        origin=writing.origin,
        content_hash=content_hash(content),
        size_bytes=len(content),
        preview=preview(content),
        previous_id=None if newest is None else newest.id,
        restored_from=writing.restored_from,
    )
    return Kept(version, content)


def row_of(version: Version) -> Row:
    """To be written."""
    return Row(
        space=version.space,
        target=version.target,
        number=version.number,
        id=version.id,
        micros=(version.at - _EPOCH) // timedelta(microseconds=1),
        mode=version.mode,
        source=version.origin.source,
        session_id=version.origin.session_id,
        wake_id=version.origin.wake_id,
        content_hash=version.content_hash,
        size_bytes=version.size_bytes,
        preview=version.preview,
        previous_id=version.previous_id,
        restored_from=version.restored_from,
    )


def version_of(row: Row) -> Version:
    """As it was written."""
    return Version(
        id=row.id,
        space=row.space,
        target=row.target,
        number=row.number,
        at=_EPOCH + timedelta(microseconds=row.micros),
        mode=row.mode,
        origin=Origin(source=row.source, session_id=row.session_id, wake_id=row.wake_id),
        content_hash=row.content_hash,
        size_bytes=row.size_bytes,
        preview=row.preview,
        previous_id=row.previous_id,
        restored_from=row.restored_from,
    )


def kept(version: Version, content: bytes) -> Kept:
    """A version that was read; JournalUnavailable where its content is another."""
    if content_hash(content) != version.content_hash:
        raise JournalUnavailable(
            f"the content of version {version.id} is damaged; restore the store from a copy"
        )
    return Kept(version, content)


def _is_keepable(name: str) -> bool:
    try:
        return "\0" not in name and 1 <= len(name.encode()) <= MAX_NAME_BYTES
    except UnicodeEncodeError:
        return False
