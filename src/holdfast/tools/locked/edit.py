"""`edit`: exact replacement in an existing file."""

from typing import Annotated

import msgspec

from holdfast.contract.after_edit import AfterEdit
from holdfast.contract.builtin import builtin
from holdfast.contract.file_bounds import FileBounds
from holdfast.contract.runtime import Runtime
from holdfast.tools.files import editing
from holdfast.tools.files.missing import hinting
from holdfast.tools.files.writing import path_key, refuse_too_large, utf8_size


class Edited(msgspec.Struct, frozen=True):
    """The file is changed."""

    occurrences: int
    ok: bool = True


@builtin(
    requires={"fs": {"read": ["**"], "write": ["**"]}},
    uses={"path": ("fs.read", "fs.write")},
    effects=("resource_read", "resource_write"),
    read_only=False,
    destructive=True,
    acp_kind="edit",
    interrupt_behavior="block",
    resource_key=path_key,
    keep_empty=("new_string",),
)
def edit(  # noqa: PLR0913 - the arguments of the tool
    rt: Runtime,
    bounds: FileBounds,
    after_edit: AfterEdit,
    path: str,
    old_string: Annotated[str, msgspec.Meta(min_length=1)],
    new_string: str,
    replace_all: bool = False,  # noqa: FBT001, FBT002 - an argument of the tool
) -> Edited:
    """Replace a text in an existing file by another, exactly.

    old_string has to stand in the file letter by letter, whitespace included, and once only,
    unless replace_all is set: give enough of the lines around it. Example:
    {"path": "src/main.py", "old_string": "retries = 3", "new_string": "retries = 5"}

    Args:
        path: The file, relative to the workspace or absolute.
        old_string: The text that is there now, without line numbers.
        new_string: The text that takes its place; empty to delete.
        replace_all: Replace every occurrence.
    """
    files, bound = rt.fs, bounds.file_bytes
    with hinting(files, path):
        size = files.stat(path).byte_count
    refuse_too_large(size, bound, path, field="path")
    wanted = editing.Replacement(old_string, new_string, replace_all, bounds.ignore_whitespace)
    counts: list[int] = []

    def change(text: str) -> str:
        done = editing.replaced(text, wanted)
        refuse_too_large(utf8_size(done.text), bound, f"{path}, edited,", field="new_string")
        counts.append(done.occurrences)
        return done.text

    files.edit(path, change)
    after_edit.changed([path])
    return Edited(occurrences=counts[-1])
