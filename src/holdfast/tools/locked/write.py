"""`write`: a whole file, put in place at once."""

import msgspec

from holdfast.contract.after_edit import AfterEdit
from holdfast.contract.builtin import builtin
from holdfast.contract.file_bounds import FileBounds
from holdfast.contract.runtime import Runtime
from holdfast.tools.files.writing import path_key, refuse_too_large, utf8_size


class WrittenText(msgspec.Struct, frozen=True):
    """The file is there."""

    bytes: int
    ok: bool = True


@builtin(
    requires={"fs": {"write": ["**"]}},
    uses={"path": "fs.write"},
    effects=("resource_write",),
    read_only=False,
    destructive=True,
    acp_kind="edit",
    interrupt_behavior="block",
    resource_key=path_key,
    keep_empty=("content",),
)
def write(
    rt: Runtime, bounds: FileBounds, after_edit: AfterEdit, path: str, content: str
) -> WrittenText:
    """Create a file, or replace all of one, with the given text.

    Missing directories are made. To change a part of an existing file, use edit. Example:
    {"path": "notes/today.md", "content": "# Today\\n"}

    Args:
        path: The file, relative to the workspace or absolute.
        content: The whole text; may be empty.
    """
    refuse_too_large(utf8_size(content), bounds.file_bytes, "The content", field="content")
    written = rt.fs.write(path, content)
    after_edit.changed([path])
    return WrittenText(bytes=written.byte_count)
