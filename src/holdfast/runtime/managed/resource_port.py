"""What stands behind the resource tools: each call works through its own hand, so rules count.

Drafts are known by the session's events, versions by their store, files by the disk: what is shown
of them in the workspace is never read. How a file is put in place is not known here.
"""

import base64
import stat

from anyio import CancelScope, to_thread
from msgspec.structs import replace

from holdfast.contract.errors import InvalidArguments, Unavailable
from holdfast.contract.events import Payload
from holdfast.contract.journal import JournalError
from holdfast.contract.managed.resources import (
    Comparison,
    Draft,
    Drafts,
    Promoted,
    Resources,
    Restored,
    Staged,
    VersionContent,
    VersionFacts,
    VersionHistory,
    Wanted,
)
from holdfast.contract.managed_events import ResourcePromoted, ResourceStaged
from holdfast.contract.outcomes import Evaluation
from holdfast.contract.versions import Version, content_hash
from holdfast.runtime.managed.call_reach import CallReach
from holdfast.runtime.managed.comparing import compared, facts_of, status_of, text_of
from holdfast.runtime.managed.drafts import Entry, drafts_of, mirrored
from holdfast.runtime.managed.mount_paths import Placed
from holdfast.runtime.managed.sharing import Desk, FileSharing, refuse_overwriting
from holdfast.runtime.managed.substrate import NewFile, asked

_RUN = stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
"""What others are to run, a person decides."""
ARTIFACT = "staged-substrate.json"


class CallFiles:
    """The shared files, as one call reaches them."""

    def __init__(self, desk: Desk, reach: CallReach) -> None:
        """``reach``: through the call's own hand."""
        self._desk = desk
        self._ground = desk.ground
        self._reach = reach
        self.sharing = FileSharing(desk, reach)

    def mounted(self) -> Resources:
        """What the session stands on."""
        return Resources(session_id=self._ground.session_id, resources=self._ground.mounts)

    async def stage(
        self, source_path: str, target_path: str | None, /, *, overwrite: bool
    ) -> Staged:
        """Copy a shared file into the workspace."""
        source = self._desk.substrate.path(source_path, "source_path")
        target = self.sharing.session(target_path or source.relative, "target_path")
        drafts = await asked(drafts_of(self._ground))
        shared = await self._reach.there(source, "source_path")
        ours = await self._reach.found(target, "target_path")
        reused = False
        if ours is not None and not overwrite:
            draft = drafts.get(target.shown)
            if draft is None or draft.source_path != source.relative:
                raise InvalidArguments(
                    f"{target.shown} is there, and was not staged from {source.relative};"
                    " give another target_path, or overwrite",
                    field="overwrite",
                    expected="true, to replace it",
                )
            reused = True
        held = content_hash(shared.content)
        mine = content_hash(ours.content) if ours is not None and reused else held
        if not reused:
            await self._reach.copy(shared.content, target, is_new=ours is None)
            said = ResourceStaged(
                source_path=source.relative,
                target_path=target.shown,
                source_hash=held,
                target_hash=mine,
            )
            await self._written([said])
        return Staged(
            source_path=source.relative,
            target_path=target.shown,
            bytes=len(shared.content if ours is None or not reused else ours.content),
            reused_existing=reused,
            diverged_from_source=mine != held,
            source_content_hash=held,
            target_content_hash=mine,
            artifact_path=self._artifact,
        )

    async def drafts(self) -> Drafts:
        """What was copied, and how it stands."""
        entries = await asked(drafts_of(self._ground))
        drafts = tuple([await self._draft(one) for one in entries.values()])
        return Drafts(
            session_id=self._ground.session_id,
            count=len(drafts),
            drafts=drafts,
            artifact_path=self._artifact,
        )

    async def history(self, target_path: str, limit: int, /) -> VersionHistory:
        """The versions of a shared file."""
        target = self._desk.substrate.path(target_path, "target_path")
        await self._reach.admitted(target)
        found = await self._desk.substrate.history(target.relative, limit)
        versions = tuple(map(self._facts, found))
        return VersionHistory(target_path=target.relative, count=len(versions), versions=versions)

    async def version(self, version_id: str, /) -> VersionContent:
        """One version."""
        kept = await self._desk.substrate.kept(version_id)
        await self._reach.admitted(self._desk.substrate.path(kept.version.target, "version_id"))
        text = text_of(kept.content)
        return VersionContent(
            version=self._facts(kept.version),
            encoding="base64" if text is None else "utf-8",
            content=base64.b64encode(kept.content).decode() if text is None else text,
        )

    async def compare(
        self, session_path: str, substrate_path: str | None, most_lines: int, /
    ) -> Comparison:
        """A session's file beside the shared one."""
        session = self.sharing.session(session_path, "session_path")
        target = await self.sharing.target(session, substrate_path, "substrate_path")
        ours = await self._reach.there(session, "session_path")
        await self._reach.admitted(target)
        shared = await self._desk.substrate.look(target.relative)
        found = await to_thread.run_sync(
            compared, session, ours.content, target, shared, most_lines
        )
        latest = None if shared.newest is None else self._facts(shared.newest)
        return replace(found, latest_version=latest)

    async def promote(
        self, source_path: str, target_path: str | None, wanted: Wanted, /, *, overwrite: bool
    ) -> Promoted:
        """Share a session's file."""
        session, target, ours = await self.sharing.named(source_path, target_path)
        new = NewFile(
            target=target.relative,
            content=ours.content,
            source=wanted.tool,
            mode=ours.mode & ~_RUN,
        )
        version, evaluation = await self._share(new, wanted, session, overwrite=overwrite)
        return Promoted(
            source_path=session.shown,
            target_path=target.relative,
            bytes=version.size_bytes,
            version_id=version.id,
            previous_version_id=version.previous_id,
            content_hash=version.content_hash,
            outcome_evaluation=evaluation,
            artifact_path=self._artifact,
        )

    async def restore(self, version_id: str, wanted: Wanted, /) -> Restored:
        """Share an older version again."""
        kept = await self._desk.substrate.kept(version_id)
        new = NewFile(
            target=kept.version.target,
            content=kept.content,
            source=wanted.tool,
            restored_from=version_id,
        )
        version, evaluation = await self._share(new, wanted, None, overwrite=True)
        return Restored(
            restored_from_version_id=version_id,
            target_path=version.target,
            bytes=version.size_bytes,
            version_id=version.id,
            previous_version_id=version.previous_id,
            content_hash=version.content_hash,
            outcome_evaluation=evaluation,
        )

    async def _share(
        self, new: NewFile, wanted: Wanted, session: Placed | None, *, overwrite: bool
    ) -> tuple[Version, Evaluation]:
        """The version, the content, the gate, and then the write: in this order."""
        substrate = self._desk.substrate
        field = "version_id" if session is None else "target_path"
        await self._reach.writable(substrate.target(new.target, field))
        async with substrate.changing() as lease:
            shared = await substrate.look(new.target)
            evaluation = await self.sharing.passed(shared, new.target, wanted)
            refuse_overwriting(shared, new.target, overwrite=overwrite)
            made: list[Version] = []
            with CancelScope(shield=True):  # from its note to its event it is done as a whole
                version = await substrate.write(lease, shared, new)
                made.append(version)
                missed = evaluation.status not in ("missing_outcome", "pass")
                said = ResourcePromoted(
                    target_path=new.target,
                    version_id=version.id,
                    content_hash=version.content_hash,
                    source_path=None if session is None else session.shown,
                    restored_from=new.restored_from,
                    overridden=missed and wanted.require_outcome_pass is False,
                )
                await self._written([said])
        return made[0], evaluation

    async def _draft(self, entry: Entry) -> Draft:
        mine = await self._reach.held(
            lambda: self.sharing.session(entry.session_path, "session_path")
        )
        held = await self._reach.held(
            lambda: self._desk.substrate.path(entry.source_path, "source_path")
        )
        return Draft(
            session_path=entry.session_path,
            source_path=entry.source_path,
            status=status_of(mine, held),
            draft_changed_since_staging=mine != entry.target_hash,
            substrate_changed_since_staging=held != entry.source_hash,
            source_content_hash=entry.source_hash,
            target_content_hash=entry.target_hash,
            staged_at=entry.staged_at,
        )

    async def _written(self, said: list[Payload]) -> None:
        log = self._ground.log
        if log is None:
            raise Unavailable("Nothing is written down here, so that nothing can be shared.")
        try:
            await log.append(said)
        except JournalError as problem:
            raise Unavailable(f"It was done, and could not be written down: {problem}") from None
        if self._desk.shown is not None:
            drafts = await asked(drafts_of(self._ground))
            await self._desk.shown.show_json(ARTIFACT, mirrored(drafts))

    @property
    def _artifact(self) -> str | None:
        return None if self._desk.shown is None else str(self._desk.shown.path / ARTIFACT)

    def _facts(self, version: Version) -> VersionFacts:
        return facts_of(version, self._ground.clean)
