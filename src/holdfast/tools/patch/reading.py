"""A patch text, in whichever of the two notations it is written."""

from functools import lru_cache

from holdfast.contract.errors import InvalidArguments
from holdfast.tools.patch import diff, sections
from holdfast.tools.patch.model import FilePatch, bad_patch, lines_of, sources, targets


def read_patch(text: str) -> tuple[FilePatch, ...]:
    """What a patch says; InvalidArguments where it is none. Judging and running read it alike."""
    found = _read(text)
    if isinstance(found, InvalidArguments):
        # A new one each time: it has a traceback of its own.
        raise InvalidArguments(
            str(found), field=found.field, expected=found.expected, extras=found.extras
        )
    return found


@lru_cache(maxsize=8)
def _read(text: str) -> tuple[FilePatch, ...] | InvalidArguments:
    """Kept, refusals too: it is asked for once for each capability, and again to run."""
    ended = text if text.endswith("\n") else f"{text}\n"  # models leave out the last one
    lines = lines_of(ended.encode("utf-8", "surrogatepass"))
    try:
        found = tuple(
            sections.read_sections(lines) if sections.has_sections(lines) else diff.read_diff(lines)
        )
    except InvalidArguments as problem:
        return problem.with_traceback(None)
    return found or bad_patch(1, "there is no file in it.")


def patch_targets(text: str, capability: str) -> list[str]:
    """The paths a patch uses a capability on; none where it is no patch and nothing will run."""
    try:
        patches = read_patch(text)
    except InvalidArguments:
        return []
    return sources(patches) if capability == "fs.read" else targets(patches)
