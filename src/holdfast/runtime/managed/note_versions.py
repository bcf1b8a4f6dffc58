"""What the model writes of a session and for its agent: each write a version, none ever changed.

How it is shown is not known here.
"""

from collections.abc import Mapping

from holdfast.contract.errors import InvalidArguments
from holdfast.contract.managed.memory import (
    MemoryWrite,
    VersionContent,
    VersionEntry,
    VersionList,
)
from holdfast.contract.managed.spaces import VersionedTarget, agent_space, session_space
from holdfast.contract.versions import (
    ANYTHING,
    Expected,
    Kept,
    Origin,
    UnknownVersion,
    Version,
    VersionedStore,
    check,
)
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.memory_refusals import told_by_stores

SHARED: VersionedTarget = "workspace_memory_notes"
MOST_SHARED = 64_000
"""Bytes of notes that MEMORY.md shows."""
NO_VERSION = "none"
"""What a writer expects who expects that nothing was written yet."""


class NoteVersions:
    """As one session sees them."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def newest(self, target: VersionedTarget, session_id: str) -> Kept | None:
        """What the model has written there, all of it."""
        with told_by_stores(target):
            return await (await self._store()).newest(self._space(target, session_id), target)

    async def check(self, target: VersionedTarget, session_id: str, wanted: MemoryWrite) -> None:
        """Whether the newest version is what the writer expects, which the write itself sees to as
        well, and whether all of it is short enough for what shows it; InvalidArguments."""
        with told_by_stores(target, self._named(session_id)):
            store = await self._store()
            found = await store.history(self._space(target, session_id), target, limit=1)
            check(_expected(wanted), target, found[0] if found else None)
        before = found[0].size_bytes if found and wanted.mode == "append" else 0
        size = before + len(wanted.content.encode())
        if target == SHARED and size > MOST_SHARED:
            raise InvalidArguments(
                f"The notes would have {size:,} bytes, and {MOST_SHARED:,} are the most that"
                " sessions share; nothing was written. Replace them with a shorter text.",
                field="content",
                expected=f"at most {MOST_SHARED:,} bytes of notes in all",
            )

    async def write(
        self, target: VersionedTarget, session_id: str, wanted: MemoryWrite, source: str
    ) -> Kept:
        """Write one more; what the model has written there from here on."""
        ground, space = self._ground, self._space(target, session_id)
        content = wanted.content.encode()
        origin = Origin(
            source=source,
            session_id=ground.session_id,
            wake_id=None if ground.log is None else ground.log.wake_id,
        )
        with told_by_stores(target, self._named(session_id)):
            store = await self._store()
            new = await store.write(
                *(space, target, content),
                origin=origin,
                mode=wanted.mode,
                expected=_expected(wanted),
            )
            return (
                Kept(new, content) if wanted.mode == "replace" else await store.read(space, new.id)
            )

    async def history(self, target: VersionedTarget, session_id: str, limit: int) -> VersionList:
        """The newest first."""
        with told_by_stores(target, self._named(session_id)):
            store = await self._store()
            found = await store.history(self._space(target, session_id), target, limit=limit)
        entries = tuple(self._entry(one, target, session_id) for one in found)
        return VersionList(count=len(entries), versions=entries)

    async def read(
        self, target: VersionedTarget, version_id: str, session_id: str
    ) -> VersionContent:
        """One of them."""
        with told_by_stores(target, self._named(session_id)):
            store = await self._store()
            found = await store.read(self._space(target, session_id), version_id)
            if found.version.target != target:
                raise UnknownVersion(
                    f"{version_id} is a version of {found.version.target}, not of {target}"
                )
        entry = self._entry(found.version, target, session_id)
        return VersionContent(version=entry, content=text_of(found))

    async def _store(self) -> VersionedStore:
        return (await self._ground.stores()).versions

    def _space(self, target: VersionedTarget, session_id: str) -> str:
        return agent_space(self._ground.agent_id) if target == SHARED else session_space(session_id)

    def _named(self, session_id: str) -> Mapping[str, str]:
        """The argument that names the session, where it is another one."""
        return {} if session_id == self._ground.session_id else {"session_id": session_id}

    def _entry(self, found: Version, target: VersionedTarget, session_id: str) -> VersionEntry:
        return VersionEntry(
            version_id=found.id,
            agent_id=self._ground.agent_id,
            session_id=None if target == SHARED else session_id,
            target=target,
            created_at=found.at.isoformat(),
            source=found.origin.source,
            mode=found.mode,
            content_hash=found.content_hash,
            size_bytes=found.size_bytes,
            wake_id=found.origin.wake_id,
            preview=found.preview,
        )


def text_of(kept: Kept | None) -> str:
    """What was written, as text; nothing where nothing was."""
    return "" if kept is None else kept.content.decode("utf-8", "replace")


def _expected(wanted: MemoryWrite) -> Expected:
    named = wanted.expected_version_id
    if named is None:
        return ANYTHING
    return Expected(version_id=None if named == NO_VERSION else named)
