"""Files that sessions of an agent share, as tools see them: values, and the port behind them.

A *draft* is a session's copy of a shared file, and what is shared is changed by promoting alone.
"""

from typing import Literal, Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.mounts import Mount
from holdfast.contract.outcomes import Evaluation
from holdfast.contract.steps import Step

DraftStatus = Literal["ready", "in_sync", "draft_missing", "substrate_missing"]


class Resources(msgspec.Struct, frozen=True, kw_only=True):
    """What a session stands on."""

    session_id: str
    resources: tuple[Mount, ...]


class Staged(msgspec.Struct, frozen=True, kw_only=True):
    """There is a draft."""

    source_path: str
    """From the substrate's root."""
    target_path: str
    """From the workspace."""
    bytes: int
    reused_existing: bool
    """The draft was there, and is as it was."""
    diverged_from_source: bool
    source_content_hash: str
    target_content_hash: str
    artifact_path: str | None = None


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A draft and the file it was made of, as both are now."""

    session_path: str
    source_path: str
    status: DraftStatus
    draft_changed_since_staging: bool
    substrate_changed_since_staging: bool
    source_content_hash: str
    """As it was staged, or promoted."""
    target_content_hash: str
    staged_at: str


class Drafts(msgspec.Struct, frozen=True, kw_only=True):
    """All drafts of a session."""

    session_id: str
    count: int
    drafts: tuple[Draft, ...]
    artifact_path: str | None = None


class VersionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a shared file, without its content."""

    version_id: str
    target_path: str
    number: int
    created_at: str
    source: str
    session_id: str | None = None
    content_hash: str
    size_bytes: int
    preview: str
    previous_version_id: str | None = None
    restored_from_version_id: str | None = None


class VersionHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The versions of a shared file, the newest first."""

    target_path: str
    count: int
    versions: tuple[VersionFacts, ...]


class VersionContent(msgspec.Struct, frozen=True, kw_only=True):
    """What a version holds."""

    version: VersionFacts
    encoding: Literal["utf-8", "base64"]
    """`base64` where it is no text."""
    content: str


class DifferingLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line that is another one in both; null: there is none."""

    line: int
    session: str | None
    substrate: str | None


class Precondition(msgspec.Struct, frozen=True, kw_only=True):
    """What can be given to a promotion, so that it fails where something has changed."""

    expected_version_id: str | None
    expected_content_hash: str | None
    version_available: bool
    content_hash_available: bool


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """A session's file beside the shared one."""

    session_path: str
    substrate_path: str
    identical: bool
    substrate_exists: bool
    session_char_count: int | None
    """null: it is no text."""
    substrate_char_count: int | None
    session_content_hash: str
    substrate_content_hash: str | None
    differing_line_count: int | None
    preview: tuple[DifferingLine, ...]
    latest_version_id: str | None
    latest_version: VersionFacts | None
    promote_precondition: Precondition
    next_step: Step | None = None


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """On which conditions something is shared."""

    tool: str
    require_outcome_pass: bool | None = None
    expected_version_id: str | None = None
    expected_content_hash: str | None = None


class Promoted(msgspec.Struct, frozen=True, kw_only=True):
    """It is shared."""

    source_path: str
    target_path: str
    bytes: int
    version_id: str
    previous_version_id: str | None
    content_hash: str
    outcome_evaluation: Evaluation
    artifact_path: str | None = None


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """An older version is shared again."""

    restored_from_version_id: str
    target_path: str
    bytes: int
    version_id: str
    previous_version_id: str | None
    content_hash: str
    outcome_evaluation: Evaluation


class SharedFiles(CallPort, Protocol):
    """Whoever knows what is shared. Everything raises the errors of `contract.errors`."""

    def mounted(self) -> Resources:
        """What the session stands on."""
        ...

    async def stage(
        self, source_path: str, target_path: str | None, /, *, overwrite: bool
    ) -> Staged:
        """Copy a shared file into the workspace."""
        ...

    async def drafts(self) -> Drafts:
        """What was copied, and how it stands."""
        ...

    async def history(self, target_path: str, limit: int, /) -> VersionHistory:
        """The versions of a shared file."""
        ...

    async def version(self, version_id: str, /) -> VersionContent:
        """One version."""
        ...

    async def compare(
        self, session_path: str, substrate_path: str | None, most_lines: int, /
    ) -> Comparison:
        """A session's file beside the shared one."""
        ...

    async def promote(
        self, source_path: str, target_path: str | None, wanted: Wanted, /, *, overwrite: bool
    ) -> Promoted:
        """Share a session's file."""
        ...

    async def restore(self, version_id: str, wanted: Wanted, /) -> Restored:
        """Share an older version again."""
        ...
