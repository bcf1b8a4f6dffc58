"""`apply_patch`: changes of many files, all at once or not at all."""

from typing import Annotated, Literal

import msgspec

from holdfast.contract.after_edit import AfterEdit
from holdfast.contract.builtin import builtin
from holdfast.contract.file_bounds import FileBounds
from holdfast.contract.runtime import Runtime
from holdfast.tools.patch import outcome, writing
from holdfast.tools.patch.model import FilePatch
from holdfast.tools.patch.reading import patch_targets, read_patch

LONGEST_PATCH = 1024 * 1024
"""In characters."""
_DONE: dict[str, Literal["added", "changed", "deleted", "moved", "copied"]] = {
    "add": "added",
    "change": "changed",
    "delete": "deleted",
    "rename": "moved",
    "copy": "copied",
}


class PatchedFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one file."""

    path: str
    change: Literal["added", "changed", "deleted", "moved", "copied"]
    source: str | None = None
    """Where it was moved or copied from."""


class Patched(msgspec.Struct, frozen=True):
    """The patch is applied, all of it."""

    files: tuple[PatchedFile, ...]
    ok: bool = True


@builtin(
    requires={"fs": {"read": ["**"], "write": ["**"]}},
    uses={"patch": ("fs.read", "fs.write")},
    targets={"patch": patch_targets},
    effects=("resource_read", "resource_write"),
    read_only=False,
    destructive=True,
    acp_kind="edit",
    interrupt_behavior="block",
)
def apply_patch(
    rt: Runtime,
    bounds: FileBounds,
    after_edit: AfterEdit,
    patch: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_PATCH)],
) -> Patched:
    """Change several files at once: either all of a patch is applied, or nothing of it.

    Takes a unified diff as `git diff` prints it (new, deleted and renamed files, mode lines), or
    this form, in which lines begin with a blank, - or + and no line numbers are needed; a line
    behind @@ stands somewhere above the change. Example:
    {"patch": "*** Begin Patch\\n*** Update File: a.py\\n-x = 3\\n+x = 5\\n*** End Patch"}

    Args:
        patch: The patch; paths are relative to the workspace.
    """
    patches = read_patch(patch)
    steps = outcome.Outcome(rt.fs, bounds.file_bytes, patches).steps()
    writing.write_all(rt.fs, steps)
    after_edit.changed([step.path for step in steps if step.after is not None])
    return Patched(tuple(map(_told, patches)))


def _told(patch: FilePatch) -> PatchedFile:
    moved = patch.kind in ("rename", "copy")
    return PatchedFile(patch.name, _DONE[patch.kind], patch.old if moved else None)
