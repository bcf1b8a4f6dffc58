"""Versions as a port: what is kept under a name is never changed, only followed by newer content.

A *space* holds the targets of one owner, an agent or one of its sessions; nothing is found from
another space. A writer may say what the newest version has to be: it is checked and written under
one lock, so that of two writers who expect the same, one fails. Values and a protocol; stores are
in `record`.
"""

import hashlib
from datetime import datetime
from typing import Literal, Protocol

import msgspec
from msgspec import UNSET, UnsetType

PREVIEW_LENGTH = 160
"""Characters of a text that a version shows of itself."""
MAX_CONTENT_BYTES = 16 * 1024 * 1024
"""What one version may hold, unless a store is told otherwise."""
MAX_NAME_BYTES = 1024
"""Of a space or a target."""
_SHOWN_BYTES = 16

Mode = Literal["replace", "append"]
"""Instead of the newest content, or behind it, in a line of its own."""


class VersionError(Exception):
    """It was not written or not found; the text says why and what to do."""


class PreconditionFailed(VersionError):
    """The newest version is another than the writer expects. Nothing was written."""

    def __init__(
        self,
        what: Literal["version", "content"],
        target: str,
        expected: str | None,
        found: str | None,
    ) -> None:
        super().__init__(
            f"{what} precondition failed for {target}: expected {expected or 'none'}"
            f" but latest is {found or 'none'}; read the latest, then write again"
        )
        self.what = what
        self.target = target
        self.expected = expected
        self.found = found


class UnknownVersion(VersionError):
    """There is no version of this id in the space."""


class ContentTooLarge(VersionError):
    """It would be larger than the store keeps. Nothing was written."""


class UnusableName(VersionError):
    """A space, a target or an origin that no store can keep: empty, too long, or no plain text."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Who writes, and during what."""

    source: str
    session_id: str | None = None
    wake_id: str | None = None


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What the newest version must be. None: there must be none yet. Not given: not checked."""

    version_id: str | UnsetType | None = UNSET
    content_hash: str | UnsetType | None = UNSET


ANYTHING = Expected()


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """One content that a target had."""

    id: str
    space: str
    target: str
    number: int
    """From 1, without gaps, for each target."""
    at: datetime
    """When it was written, in UTC."""
    mode: Mode
    origin: Origin
    content_hash: str
    """SHA-256, in hexadecimal."""
    size_bytes: int
    preview: str
    previous_id: str | None
    restored_from: str | None = None
    """The version whose content it brought back."""


class Kept(msgspec.Struct, frozen=True):
    """A version with its content."""

    version: Version
    content: bytes


class VersionedStore(Protocol):
    """Keeps versions. One that was returned stays, whatever the store's durability promises.

    Where the store cannot be reached, all raise JournalUnavailable; a write that was on its way may
    then have been kept. A name that no store can keep is an UnusableName everywhere.
    """

    async def write(
        self,
        space: str,
        target: str,
        content: bytes,
        /,
        *,
        origin: Origin,
        mode: Mode = "replace",
        expected: Expected = ANYTHING,
    ) -> Version:
        """Write what comes next; PreconditionFailed, ContentTooLarge."""
        ...

    async def restore(
        self, space: str, version_id: str, /, *, origin: Origin, expected: Expected = ANYTHING
    ) -> Version:
        """Write an older version's content as the newest of its target; UnknownVersion, too."""
        ...

    async def newest(self, space: str, target: str, /) -> Kept | None:
        """What a target holds now; None where nothing was ever written."""
        ...

    async def read(self, space: str, version_id: str, /) -> Kept:
        """One version; UnknownVersion."""
        ...

    async def history(self, space: str, target: str, /, *, limit: int = 10) -> tuple[Version, ...]:
        """The versions of a target, the newest first."""
        ...

    async def targets(self, space: str, /) -> tuple[Version, ...]:
        """The newest version of each target, by name."""
        ...

    async def close(self) -> None:
        """Wait for what was begun, and let go of the store."""
        ...


def content_hash(content: bytes) -> str:
    """What stands for a content."""
    return hashlib.sha256(content).hexdigest()


def appended(before: bytes, content: bytes) -> bytes:
    """The content behind what was there, with one line break between them."""
    if not before or not content or before.endswith(b"\n"):
        return before + content
    return b"%b\n%b" % (before, content)


def preview(content: bytes) -> str:
    """The beginning of a text; of anything else its size and first bytes."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        return f"binary, {len(content)} bytes: {content[:_SHOWN_BYTES].hex(' ')}"
    return text[:PREVIEW_LENGTH]


def check(expected: Expected, target: str, newest: Version | None) -> None:
    """Raise PreconditionFailed where the newest version is not as expected: the id comes first."""
    latest = None if newest is None else newest.id
    if expected.version_id is not UNSET and expected.version_id != latest:
        raise PreconditionFailed("version", target, expected.version_id, latest)
    held = None if newest is None else newest.content_hash
    if expected.content_hash is not UNSET and expected.content_hash != held:
        raise PreconditionFailed("content", target, expected.content_hash, held)
