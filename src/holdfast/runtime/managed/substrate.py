"""The files that sessions of an agent share: as they lie on the disk, and in all their versions.

A file is changed by one session at a time, first noted, then kept as a version, then put in place:
whoever comes next finishes what was left in between. What was put there without a version is kept
as one before it is replaced, so that nothing that was shared is lost. Who may share what is not
known here.
"""

import errno
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple, TypeVar

import msgspec
from anyio import Lock, to_thread

from holdfast.contract.errors import (
    FileNotFound,
    InvalidArguments,
    OperationFailed,
    PolicyDenied,
    ToolError,
    Unavailable,
)
from holdfast.contract.journal import JournalError
from holdfast.contract.managed.spaces import substrate_space
from holdfast.contract.mounts import of_kind
from holdfast.contract.versions import (
    MAX_CONTENT_BYTES,
    ContentTooLarge,
    Expected,
    Kept,
    Origin,
    PreconditionFailed,
    UnknownVersion,
    Version,
    VersionedStore,
    VersionError,
    content_hash,
)
from holdfast.execution.files.opening import NotAFile
from holdfast.execution.files.rooted import Found, Prepared, read_below
from holdfast.execution.files.troubles import told
from holdfast.execution.files.write_lease import Doing, WriteLease
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.mount_paths import Placed, below
from holdfast.runtime.managed.workspace_memory import MEMORY_FILE
from holdfast.runtime.managed.write_leases import SessionLease

_T = TypeVar("_T")
_log = logging.getLogger("holdfast")
_MEMORY = MEMORY_FILE.casefold()
_OURS = ".holdfast-"
FOUND = "substrate.found"
"""Who wrote a version that was not promoted: it lay there."""


class Shared(NamedTuple):
    """A shared file now: on the disk, and its newest version."""

    file: Found | None
    newest: Version | None

    @property
    def held(self) -> str | None:
        """The hash of what lies there."""
        return None if self.file is None else content_hash(self.file.content)

    @property
    def is_newest(self) -> bool:
        """Whether what lies there is the newest version."""
        return self.newest is not None and self.newest.content_hash == self.held


class NewFile(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be shared."""

    target: str
    content: bytes
    source: str
    """What writes it, for its version."""
    mode: int | None = None
    """Permissions, where there is no such file yet."""
    restored_from: str | None = None


class Substrate:
    """Of one session's agent."""

    def __init__(self, ground: Ground, lease: SessionLease) -> None:
        self._ground = ground
        self._lease = lease
        self._alone = Lock()
        self._space = substrate_space(ground.agent_id)
        mount = of_kind(ground.mounts, "agent_substrate")
        self._root = None if mount is None else mount.mount_path

    @property
    def root(self) -> str:
        """Where the files are."""
        if self._root is None:
            raise Unavailable("This session shares no files with others.")
        return self._root

    def path(self, text: str, field: str) -> Placed:
        """A file in it, by what a call says."""
        return Placed(self.root, below(text, self.root, field))

    def target(self, text: str, field: str) -> Placed:
        """The same, of a file that is to be changed; PolicyDenied where it means something to
        others than those who share files."""
        place = self.path(text, field)
        parts = place.relative.casefold().split("/")
        if parts[0] == _MEMORY:
            raise PolicyDenied(
                f"{MEMORY_FILE} is the memory of the agent and is not written as a file, nor is a"
                " folder made of it: share a note with memory_promote_note."
            )
        if any(part == ".git" or part.startswith(_OURS) for part in parts):
            raise PolicyDenied(
                f"{place.relative} is Git's or holdfast's own and is not shared: choose another"
                " target_path."
            )
        return place

    async def look(self, target: str) -> Shared:
        """How a file stands."""
        found = await read(Placed(self.root, target))
        store = await self.versions()
        kept = await asked(store.newest(self._space, target))
        return Shared(found, None if kept is None else kept.version)

    async def history(self, target: str, limit: int) -> tuple[Version, ...]:
        """Its versions, the newest first."""
        store = await self.versions()
        return await asked(store.history(self._space, target, limit=limit))

    async def kept(self, version_id: str) -> Kept:
        """One version; FileNotFound."""
        store = await self.versions()
        return await asked(store.read(self._space, version_id))

    @asynccontextmanager
    async def changing(self) -> AsyncGenerator[WriteLease]:
        """Be the only one who changes anything, with what others left in between finished."""
        async with self._alone, self._lease.held() as lease:
            await self._finish(lease)
            yield lease

    async def write(self, lease: WriteLease, before: Shared, new: NewFile) -> Version:
        """Put it in place as a new version. ``before``: what was looked at while changing."""
        store = await self.versions()
        if before.file is not None and not before.is_newest:
            before = before._replace(newest=await self._adopted(store, before, new))
        newest = None if before.newest is None else before.newest.id
        doing = Doing(
            target=new.target,
            content_hash=content_hash(new.content),
            before_hash=before.held,
            previous_version_id=newest,
        )
        prepared = await _acted(
            lambda: Prepared(self.root, new.target, new.content, new.mode), new.target
        )
        try:
            await _acted(lambda: lease.doing(doing), new.target)
            version = await asked(_kept(store, self._space, new, self._origin(new), newest))
            was = None if before.file is None else before.file.content
            await _acted(lambda: prepared.put(was), new.target)
            await _acted(lambda: lease.doing(None), new.target)
        except Unavailable:
            raise  # it may have been kept: whoever comes next looks
        except ToolError:
            await _acted(lambda: lease.doing(None), new.target)
            raise
        finally:
            await to_thread.run_sync(prepared.discard)
        return version

    async def versions(self) -> VersionedStore:
        """Where versions are; Unavailable."""
        return (await asked(self._ground.stores())).versions

    def _origin(self, new: NewFile, source: str | None = None) -> Origin:
        log = self._ground.log
        return Origin(
            source=source or new.source,
            session_id=self._ground.session_id,
            wake_id=None if log is None else log.wake_id,
        )

    async def _adopted(self, store: VersionedStore, before: Shared, new: NewFile) -> Version:
        newest = None if before.newest is None else before.newest.id
        content = b"" if before.file is None else before.file.content
        return await asked(
            store.write(
                self._space,
                new.target,
                content,
                origin=self._origin(new, FOUND),
                expected=Expected(version_id=newest),
            )
        )

    async def _finish(self, lease: WriteLease) -> None:
        """Put in place what was kept as a version and did not get there, if nothing else did."""
        left = lease.left
        if left is None:
            return
        try:
            await self._put_left(left)
        except Unavailable:
            raise  # whoever comes next tries again
        except ToolError as problem:
            # Something else is there by now: it stays, and nobody is kept from sharing for it.
            _log.warning("shared file %s was left as it is: %s", left.target, problem)
        lease.left = None
        await _acted(lambda: lease.doing(None), left.target)

    async def _put_left(self, left: Doing) -> None:
        now = await self.look(left.target)
        newest = now.newest
        is_as_it_was = now.held == left.before_hash
        if newest is not None and is_as_it_was and _is_what(newest, left):
            kept = await self.kept(newest.id)
            await _acted(lambda: self._put(left.target, kept.content, now), left.target)

    def _put(self, target: str, content: bytes, now: Shared) -> None:
        with Prepared(self.root, target, content, None) as prepared:
            prepared.put(None if now.file is None else now.file.content)


def _is_what(newest: Version, left: Doing) -> bool:
    """Whether it is the version that was to be put in place."""
    return newest.content_hash == left.content_hash and newest.id != left.previous_version_id


async def read(place: Placed) -> Found | None:
    """A file below a root, through no link; None: there is none."""
    return await _acted(
        lambda: read_below(place.root, place.relative, MAX_CONTENT_BYTES), place.shown
    )


async def asked(question: Awaitable[_T]) -> _T:
    """What a store answers; what it refuses as a failure of the call."""
    try:
        return await question
    except PreconditionFailed as problem:
        raise stale(problem.what, problem.target, problem.expected, problem.found) from None
    except UnknownVersion as problem:
        raise FileNotFound(str(problem), field="version_id") from None
    except (ContentTooLarge, VersionError) as problem:
        raise InvalidArguments(str(problem)) from None
    except JournalError as problem:
        raise Unavailable(f"What is kept cannot be reached: {problem}") from None


def stale(what: str, target: str, expected: str | None, found: str | None) -> OperationFailed:
    """Something else is there than was expected. Nothing was changed."""
    return OperationFailed(
        f"{what} precondition failed for {target}: expected {expected or 'none'} but latest is"
        f" {found or 'none'}; compare again, then decide",
        extras={"reason": "stale", "expected": expected, "found": found},
    )


def _kept(
    store: VersionedStore, space: str, new: NewFile, origin: Origin, newest: str | None
) -> Awaitable[Version]:
    expected = Expected(version_id=newest)
    if new.restored_from is not None:
        return store.restore(space, new.restored_from, origin=origin, expected=expected)
    return store.write(space, new.target, new.content, origin=origin, expected=expected)


async def _acted(act: Callable[[], _T], shown: str) -> _T:
    try:
        return await to_thread.run_sync(act)
    except NotAFile as problem:
        raise told(problem, shown) from problem
    except OSError as problem:
        raise _told(problem, shown) from problem


def _told(problem: OSError, shown: str) -> ToolError:
    name = errno.errorcode.get(problem.errno or 0)
    if name == "ELOOP":
        return PolicyDenied(f"{shown} is a link, or passes one: name the file itself.")
    if name == "ESTALE":
        return OperationFailed(
            f"{shown} was changed by somebody else meanwhile and is left as it is; compare again.",
            extras={"reason": "stale"},
        )
    if name == "EFBIG":
        return InvalidArguments(f"{shown} is larger than what can be shared: {_MOST}.")
    return told(problem, shown)


_MOST = f"{MAX_CONTENT_BYTES:,} bytes"
