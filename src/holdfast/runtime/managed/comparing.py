"""A session's file beside the shared one: where they differ, and what shows a change later.

Values in, values out: no file and no store is asked.
"""

from collections.abc import Callable, Iterator
from itertools import islice, zip_longest

from holdfast.contract.managed.resources import (
    Comparison,
    DifferingLine,
    DraftStatus,
    Precondition,
    VersionFacts,
    Wanted,
)
from holdfast.contract.steps import Step
from holdfast.contract.truncate import CUT_MARK
from holdfast.contract.versions import PREVIEW_LENGTH, Version, content_hash
from holdfast.runtime.managed.mount_paths import Placed
from holdfast.runtime.managed.substrate import Shared, stale

LONGEST_LINE = 200
"""Characters of a line that a comparison shows."""
NO_VERSION = "none"
"""What somebody expects who expects that nothing is shared there yet."""


def compared(session: Placed, ours: bytes, target: Placed, shared: Shared, most: int) -> Comparison:
    """All that is told of both; without the newest version, which is the caller's to tell."""
    mine = text_of(ours)
    theirs = None if shared.file is None else text_of(shared.file.content)
    is_text = mine is not None and (shared.file is None or theirs is not None)
    lines = differing(mine or "", theirs or "") if is_text else iter(())
    shown = tuple(islice(lines, most))
    held = content_hash(ours)
    given = precondition(shared)
    identical = held == shared.held
    return Comparison(
        session_path=session.shown,
        substrate_path=target.relative,
        identical=identical,
        substrate_exists=shared.file is not None,
        session_char_count=None if mine is None else len(mine),
        substrate_char_count=None if theirs is None else len(theirs),
        session_content_hash=held,
        substrate_content_hash=shared.held,
        differing_line_count=len(shown) + sum(1 for _ in lines) if is_text else None,
        preview=shown,
        latest_version_id=None if shared.newest is None else shared.newest.id,
        latest_version=None,
        promote_precondition=given,
        next_step=None if identical else _promotion(session, target, shared, given),
    )


def facts_of(version: Version, clean: Callable[[str], str]) -> VersionFacts:
    """A version as it is told."""
    return VersionFacts(
        version_id=version.id,
        target_path=version.target,
        number=version.number,
        created_at=version.at.isoformat(),
        source=version.origin.source,
        session_id=version.origin.session_id,
        content_hash=version.content_hash,
        size_bytes=version.size_bytes,
        preview=clean(_marked(version)),
        previous_version_id=version.previous_id,
        restored_from_version_id=version.restored_from,
    )


def _marked(version: Version) -> str:
    """What is shown of a version; where that is cut it says so, as a secret may be cut there."""
    shown = version.preview
    is_cut = len(shown) >= PREVIEW_LENGTH and version.size_bytes > len(shown.encode())
    return f"{shown[: PREVIEW_LENGTH - 1]}{CUT_MARK}" if is_cut else shown


def status_of(mine: str | None, held: str | None) -> DraftStatus:
    """How a draft stands, by the hashes of both files."""
    if mine is None:
        return "draft_missing"
    if held is None:
        return "substrate_missing"
    return "in_sync" if mine == held else "ready"


def check(shared: Shared, target: str, wanted: Wanted) -> None:
    """The version first, then the content."""
    expected, newest = wanted.expected_version_id, shared.newest
    if expected == NO_VERSION:
        if newest is not None or shared.file is not None:
            found = "a file without a version" if newest is None else newest.id
            raise stale("version", target, None, found)
    elif expected is not None:
        if newest is None or newest.id != expected:
            raise stale("version", target, expected, None if newest is None else newest.id)
        if not shared.is_newest:
            raise stale("version", target, expected, f"another content than {newest.id} has")
    if wanted.expected_content_hash not in (None, shared.held):
        raise stale("content", target, wanted.expected_content_hash, shared.held)


def precondition(shared: Shared) -> Precondition:
    """The newest version where it is what lies there, and what lies there in any case."""
    known = shared.newest is not None and shared.is_newest
    return Precondition(
        expected_version_id=shared.newest.id if known and shared.newest is not None else None,
        expected_content_hash=shared.held,
        version_available=known,
        content_hash_available=shared.held is not None,
    )


def _promotion(session: Placed, target: Placed, shared: Shared, given: Precondition) -> Step:
    return Step(
        tool="resources_promote_to_substrate",
        args={
            "source_path": session.shown,
            "target_path": target.relative,
            **({"overwrite": True} if shared.file is not None else {}),
            **(
                {"expected_version_id": given.expected_version_id}
                if given.version_available
                else {}
            ),
            **(
                {"expected_content_hash": given.expected_content_hash}
                if given.content_hash_available
                else {}
            ),
        },
        rationale="Share it, as long as nothing has changed since this comparison.",
    )


def text_of(content: bytes) -> str | None:
    """The text; None: it is none."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def differing(session: str, substrate: str) -> Iterator[DifferingLine]:
    """Line by line, by their numbers."""
    both = zip_longest(session.splitlines(), substrate.splitlines())
    for number, (ours, theirs) in enumerate(both, 1):
        if ours != theirs:
            yield DifferingLine(line=number, session=_cut(ours), substrate=_cut(theirs))


def _cut(line: str | None) -> str | None:
    return line if line is None or len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"
