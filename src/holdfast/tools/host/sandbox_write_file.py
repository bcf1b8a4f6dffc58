"""`sandbox_write_file`: writing a file below the agent's home, in the host profile."""

import posixpath

import msgspec

from holdfast.contract.after_edit import AfterEdit
from holdfast.contract.builtin import builtin
from holdfast.contract.file_bounds import FileBounds
from holdfast.contract.runtime import Runtime
from holdfast.tools.files.writing import path_key, refuse_too_large, utf8_size


class SandboxFile(msgspec.Struct, frozen=True):
    """The file is there."""

    path: str
    """Absolute, below the home."""
    size: int
    """In bytes."""


@builtin(
    requires={"fs": {"write": ["**"]}},
    uses={"path": "fs.write"},
    guarded=("path",),
    effects=("resource_write",),
    read_only=False,
    destructive=True,
    acp_kind="edit",
    interrupt_behavior="block",
    resource_key=path_key,
    keep_empty=("content",),
)
def sandbox_write_file(
    rt: Runtime, bounds: FileBounds, after_edit: AfterEdit, path: str, content: str
) -> SandboxFile:
    """Create a file below the agent's home, or replace all of one, with the given text.

    Missing directories are made. Example: {"path": "output/report.md", "content": "# Report\\n"}

    Args:
        path: The file, relative to the home, or absolute and below it.
        content: The whole text; may be empty.
    """
    refuse_too_large(utf8_size(content), bounds.file_bytes, "The content", field="content")
    written = rt.fs.write(path, content)
    after_edit.changed([path])
    home = rt.session.workspace or "/"
    return SandboxFile(posixpath.normpath(posixpath.join(home, path)), written.byte_count)
