"""The memory of a session and of its agent: read, written, shared, and shown to people.

The journal and the versions are the truth; the files only show it, and are never read back, but
for what people write in MEMORY.md.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from holdfast.contract.errors import ToolError
from holdfast.contract.journal import JournalError, Session
from holdfast.contract.json_value import JsonObject, encode_json
from holdfast.contract.managed.memory import (
    Checkpoint,
    MemoryRead,
    MemoryWrite,
    MemoryWritten,
    NotePromoted,
    SessionNote,
    VersionContent,
    VersionList,
)
from holdfast.contract.managed.shell_views import ShellView
from holdfast.contract.managed.spaces import MemoryTarget, VersionedTarget
from holdfast.contract.managed_events import NotesPromoted
from holdfast.contract.outcomes import Evaluation
from holdfast.contract.session_state import SessionState
from holdfast.contract.versions import Kept
from holdfast.runtime.managed.checkpoint import account, checkpoint_of, under_way
from holdfast.runtime.managed.gate import Gate
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.memory_files import FILES, MemoryFiles
from holdfast.runtime.managed.memory_refusals import told_by_stores
from holdfast.runtime.managed.memory_sections import MODEL, RUNTIME, section
from holdfast.runtime.managed.note_versions import SHARED, NoteVersions, text_of
from holdfast.runtime.managed.sharing import PROMOTE, NoteSharing
from holdfast.runtime.managed.workspace_memory import WorkspaceMemory

_SAID: Mapping[SessionNote, Callable[[SessionState, Checkpoint], str]] = {
    "session_state": account,
    "working_buffer": under_way,
}
_log = logging.getLogger("holdfast")


class MemoryBook:
    """As one session sees it."""

    def __init__(
        self,
        ground: Ground,
        gate: Gate,
        shell: ShellView,
        notes: NoteVersions,
        shared: WorkspaceMemory,
        files: MemoryFiles,
    ) -> None:
        self._ground = ground
        self.sharing = NoteSharing(ground, gate, notes)
        self._shell = shell
        self._notes = notes
        self._shared = shared
        self._files = files
        self._problems: set[str] = set()
        """What the log says already."""

    @property
    def told(self) -> str:
        """What a model is told of MEMORY.md, as it was when a run began."""
        return self._shared.told

    async def read(self, target: MemoryTarget, session_id: str | None, /) -> MemoryRead:
        """What a store holds now."""
        session = await self._ground.session(session_id)
        content, newest = await self._content(target, session)
        return MemoryRead(
            target=target,
            session_id=session.id,
            content=content,
            version_id=None if newest is None else newest.version.id,
        )

    async def write(
        self, target: SessionNote, wanted: MemoryWrite, session_id: str | None, /
    ) -> MemoryWritten:
        """Keep what the model says of a session."""
        session = await self._ground.session(session_id)
        kept = await self._notes.write(target, session.id, self._clean(wanted), "memory_write")
        text = await self._note(target, session, kept)
        await self._files.show(session.id, target, text)
        return _written(kept, session.id, target, self._files.path(session.id, target))

    async def promote(self, wanted: MemoryWrite, /, *, required: bool | None) -> NotePromoted:
        """Keep it where all sessions of the agent see it: first the version, then the gate."""
        ground = self._ground
        session = await ground.session()
        wanted = self._clean(wanted)
        found = await self.sharing.passed(wanted, required=required)
        kept = await self._notes.write(SHARED, session.id, wanted, PROMOTE)
        if ground.log is not None:
            with told_by_stores(SHARED):
                await ground.log.append([_promoted(kept, found, required=required)])
        await self._quietly(self._shared.render)
        said = _written(kept, session.id, SHARED, self._shared.path)
        return NotePromoted(**msgspec.structs.asdict(said), outcome_evaluation=found)

    async def versions(
        self, target: VersionedTarget, session_id: str | None, limit: int, /
    ) -> VersionList:
        """What the model wrote there, the newest first."""
        session = await self._ground.session(session_id)
        return await self._notes.history(target, session.id, limit)

    async def version(
        self, target: VersionedTarget, version_id: str, session_id: str | None, /
    ) -> VersionContent:
        """One version of that."""
        session = await self._ground.session(session_id)
        return await self._notes.read(target, version_id, session.id)

    async def look(self) -> None:
        """A run begins: what a model is told of MEMORY.md is as it is now."""
        await self._quietly(self._shared.look)

    async def refresh(self) -> None:
        """Show all of it as it is now: the session's own files, and MEMORY.md.

        What cannot be shown is told in the log, and changes nothing else.
        """
        await self._quietly(self._show_all)
        await self._quietly(self._shared.render)

    async def _show_all(self) -> None:
        session = await self._ground.session()
        for target in FILES:
            content, _ = await self._content(target, session)
            is_text = isinstance(content, str)
            text = content if is_text else f"{encode_json(content).decode()}\n"
            await self._files.show(session.id, target, text)

    async def _content(
        self, target: MemoryTarget, session: Session
    ) -> tuple[str | JsonObject, Kept | None]:
        """What a store holds, and what of it the model wrote."""
        match target:
            case "checkpoint":
                return msgspec.to_builtins(await self._checkpoint(session)), None
            case "shell_state":
                return msgspec.to_builtins(await self._shell.state(session.id)), None
            case "session_state" | "working_buffer":
                kept = await self._notes.newest(target, session.id)
                return await self._note(target, session, kept), kept
            case "workspace_memory":
                kept = await self._notes.newest(SHARED, session.id)
                return await self._shared.text(), kept
            case "workspace_memory_notes":
                kept = await self._notes.newest(SHARED, session.id)
                return text_of(kept), kept

    async def _note(self, target: SessionNote, session: Session, kept: Kept | None) -> str:
        """The runtime's text and the model's, each in a section of its own."""
        found = await self._checkpoint(session)
        runtime = section(RUNTIME, _SAID[target](session.state, found))
        return f"{runtime}\n\n{section(MODEL, text_of(kept))}\n"

    async def _checkpoint(self, session: Session) -> Checkpoint:
        with told_by_stores():
            return await checkpoint_of((await self._ground.stores()).journal, session)

    async def _quietly(self, doing: Callable[[], Awaitable[None]]) -> None:
        """What only shows what is kept elsewhere must not end what is under way."""
        try:
            await doing()
        except (OSError, JournalError, ToolError) as problem:
            if str(problem) not in self._problems:
                self._problems.add(str(problem))
                _log.warning("memory of session %s: %s", self._ground.session_id, problem)

    def _clean(self, wanted: MemoryWrite) -> MemoryWrite:
        return msgspec.structs.replace(wanted, content=self._ground.clean(wanted.content))


def _written(kept: Kept, session_id: str, target: VersionedTarget, path: str) -> MemoryWritten:
    version = kept.version
    return MemoryWritten(
        session_id=session_id,
        target=target,
        mode=version.mode,
        path=path,
        version_id=version.id,
        previous_version_id=version.previous_id,
        content_hash=version.content_hash,
        content=text_of(kept),
    )


def _promoted(kept: Kept, found: Evaluation, *, required: bool | None) -> NotesPromoted:
    """``overridden``: the outcome was not reached, and the call said that this does not matter."""
    reached = found.promotion_ready or found.status == "missing_outcome"
    return NotesPromoted(
        version_id=kept.version.id,
        content_hash=kept.version.content_hash,
        overridden=required is False and not reached,
    )
