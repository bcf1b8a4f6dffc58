"""Whether something may be shared with all sessions of an agent: in the order in which a call is
refused. A note of the model, or a file of the workspace; what is written then is not known here.
"""

from typing import NamedTuple

from holdfast.contract.errors import InvalidArguments, PolicyDenied
from holdfast.contract.managed.memory import MemoryWrite
from holdfast.contract.managed.resources import Wanted
from holdfast.contract.outcomes import Evaluation
from holdfast.contract.session_state import is_bound
from holdfast.execution.files.rooted import Found
from holdfast.runtime.managed.artifact_folder import ArtifactFolder
from holdfast.runtime.managed.call_reach import CallReach
from holdfast.runtime.managed.comparing import check
from holdfast.runtime.managed.drafts import drafts_of
from holdfast.runtime.managed.gate import Gate
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.mount_paths import Placed, in_session
from holdfast.runtime.managed.note_versions import SHARED, NoteVersions
from holdfast.runtime.managed.substrate import Shared, Substrate, asked

PROMOTE = "memory_promote_note"


class Desk(NamedTuple):
    """What the resource tools of one session work with."""

    ground: Ground
    substrate: Substrate
    gate: Gate
    shown: ArtifactFolder | None
    """Where drafts are shown to the session's hand; None: it has no workspace."""


class NoteSharing(NamedTuple):
    """Of one session's notes."""

    ground: Ground
    gate: Gate
    notes: NoteVersions

    async def passed(self, wanted: MemoryWrite, *, required: bool | None) -> Evaluation:
        """How far the outcome is reached: first the version, then the gate; ToolError."""
        session = await self.ground.session()
        if is_bound(session.state):
            raise PolicyDenied(
                "A session that works for another one shares no notes: put what is to be kept into"
                " your answer, and the session above can share it with memory_promote_note."
            )
        await self.notes.check(SHARED, session.id, wanted)
        return await self.gate.passed(PROMOTE, required=required)


class FileSharing(NamedTuple):
    """Of the files that one call reaches."""

    desk: Desk
    reach: CallReach

    async def may_promote(
        self, source_path: str, target_path: str | None, wanted: Wanted, *, overwrite: bool
    ) -> None:
        """ToolError where a file cannot be shared as it is now."""
        _, target, _ = await self.named(source_path, target_path)
        await self._may(target.relative, wanted, "target_path", overwrite=overwrite)

    async def may_restore(self, version_id: str, wanted: Wanted) -> None:
        """ToolError where a version cannot be shared again as it is now."""
        kept = await self.desk.substrate.kept(version_id)
        await self._may(kept.version.target, wanted, "version_id", overwrite=True)

    async def named(
        self, source_path: str, target_path: str | None
    ) -> tuple[Placed, Placed, Found]:
        """The file that is to be shared, where, and what it holds; ToolError."""
        session = self.session(source_path, "source_path")
        target = await self.target(session, target_path, "target_path")
        return session, target, await self.reach.there(session, "source_path")

    async def passed(self, shared: Shared, target: str, wanted: Wanted) -> Evaluation:
        """How far the outcome is reached: first the version, then the content, then the gate."""
        check(shared, target, wanted)
        return await self.desk.gate.passed(wanted.tool, required=wanted.require_outcome_pass)

    def session(self, path: str, field: str) -> Placed:
        """A file of the workspace."""
        return in_session(path, self.desk.ground.mounts, field)

    async def target(self, session: Placed, path: str | None, field: str) -> Placed:
        """Where it belongs: as the call says, where it came from, or under the same path."""
        if path is None:
            draft = (await asked(drafts_of(self.desk.ground))).get(session.shown)
            path = session.relative if draft is None else draft.source_path
        return self.desk.substrate.path(path, field)

    async def _may(self, target: str, wanted: Wanted, field: str, *, overwrite: bool) -> None:
        substrate = self.desk.substrate
        # Whether rules let it write there is not known before somebody has confirmed the call.
        await self.reach.admitted(substrate.target(target, field))
        try:
            shared = await substrate.look(target)
        except PolicyDenied:
            return  # a link on the way: rules come first, and the call tells either
        await self.passed(shared, target, wanted)
        refuse_overwriting(shared, target, overwrite=overwrite)


def refuse_overwriting(shared: Shared, target: str, *, overwrite: bool) -> None:
    """InvalidArguments where something is there and the call does not say that it goes."""
    if shared.file is not None and not overwrite:
        raise InvalidArguments(
            f"{target} is shared already; compare it, then say overwrite",
            field="overwrite",
            expected="true, to replace it",
        )
