"""File payloads over the files port: what they read, write, list, and how trouble is told.

The gate here says which paths are within reach; the port opens exactly what it admitted.
"""

import errno
import os
import posixpath
from collections.abc import Callable

from holdfast.contract.backend import (
    BackendTool,
    BackendToolFilesExists,
    BackendToolFilesList,
    BackendToolFilesRead,
    BackendToolFilesWrite,
    FileContent,
    FileEntries,
    FileEntry,
    FileWriteResult,
    PathFailure,
    ToolExecutionFailure,
    ToolResult,
)
from holdfast.contract.errors import DirectoryNotFound, FileNotFound, PolicyDenied, ToolError
from holdfast.contract.files import Files
from holdfast.contract.gates import Access, PathGate, PathLeave, Refusal
from holdfast.contract.paths import is_within
from holdfast.contract.ports import PathProblem
from holdfast.execution.path_facts import DiskPaths

FilePayload = (
    BackendToolFilesRead | BackendToolFilesWrite | BackendToolFilesList | BackendToolFilesExists
)
FILE_PAYLOADS: frozenset[type[BackendTool]] = frozenset(
    {
        BackendToolFilesRead,
        BackendToolFilesWrite,
        BackendToolFilesList,
        BackendToolFilesExists,
    }
)
_MISSING = (FileNotFound, DirectoryNotFound, FileNotFoundError)
_TROUBLES = {
    "empty": errno.ENOENT,
    "loop": errno.ELOOP,
    "not_a_directory": errno.ENOTDIR,
    "too_long": errno.ENAMETOOLONG,
    "forbidden": errno.EACCES,
}

FilesOf = Callable[[PathGate, str], Files]
"""Gives files: what the gate admits, relative paths from that directory."""


class BelowDirectory:
    """A gate that admits what lies below one directory by its real path, or everything."""

    def __init__(self, working_dir: str, *, anywhere: bool = False) -> None:
        self._working_dir = working_dir
        self._anywhere = anywhere
        self._paths = DiskPaths()

    def __call__(self, _access: Access, path: str, /) -> PathLeave | Refusal:
        """Judge where it leads now; raises OSError for a path that leads nowhere at all."""
        found = self._paths.look(path, self._working_dir)
        if isinstance(found, PathProblem):
            code = _TROUBLES.get(found.trouble, errno.EINVAL)
            raise OSError(code, os.strerror(code), path)
        if self._anywhere or is_within(found.physical, self._working_dir):
            return PathLeave(found.physical)
        reason = f"{path} leads out of the sandbox's working directory"
        return Refusal(reason=reason, target=path)


class LocalFiles:
    """The files of one local sandbox."""

    def __init__(self, files: Files, gate: PathGate, working_dir: str) -> None:
        self._files = files
        self._gate = gate
        self._working_dir = working_dir

    def run(self, payload: FilePayload) -> ToolResult | bool:
        """Run one file payload; what the port raises becomes a failure value."""
        try:
            match payload:
                case BackendToolFilesRead():
                    return self._read(payload)
                case BackendToolFilesWrite():
                    return self._write(payload)
                case BackendToolFilesList():
                    return self._list(payload)
                case _:
                    return self._exists(payload)
        except PolicyDenied as problem:
            return PathFailure("os_error", str(problem), payload.path)
        except _MISSING as problem:
            return self._missing(payload, problem)
        except (ToolError, OSError) as problem:
            return ToolExecutionFailure("os_error", str(problem), type(problem).__name__)
        except UnicodeDecodeError as problem:
            return ToolExecutionFailure(
                "unexpected",
                f"{payload.path} is not {problem.encoding} text: {problem.reason} at byte"
                f" {problem.start}; read it as bytes, or in its own encoding",
                type(problem).__name__,
            )

    def _read(self, payload: BackendToolFilesRead) -> ToolResult:
        content = self._files.read_bytes(payload.path)
        if payload.encoding is None:
            return FileContent(content)
        return FileContent(content.decode(payload.encoding))

    def _write(self, payload: BackendToolFilesWrite) -> ToolResult:
        content = payload.data.encode() if isinstance(payload.data, str) else payload.data
        written = self._files.write(payload.path, content, mode=payload.mode)
        return FileWriteResult(written.byte_count)

    def _list(self, payload: BackendToolFilesList) -> ToolResult:
        folder = posixpath.normpath(posixpath.join(self._working_dir, payload.path))
        found = (
            FileEntry(one.name, posixpath.join(folder, one.name), one.kind == "directory")
            for one in self._files.list(payload.path)
        )
        return FileEntries(tuple(sorted(found, key=lambda entry: entry.name)))

    def _exists(self, payload: BackendToolFilesExists) -> bool:
        try:
            return self._files.exists(payload.path)
        except (ToolError, OSError, ValueError):
            return False

    def _missing(self, payload: FilePayload, problem: Exception) -> ToolExecutionFailure:
        resolved = self._resolved(payload.path)
        if isinstance(payload, BackendToolFilesRead):
            return ToolExecutionFailure("file_not_found", f"no such file: {payload.path}", resolved)
        return PathFailure("os_error", str(problem), resolved, missing=True)

    def _resolved(self, path: str) -> str:
        """Where a path leads on disk, as far as that can be told."""
        try:
            judged = self._gate("read", path)
        except OSError:
            return posixpath.join(self._working_dir, path)
        return judged.path if isinstance(judged, PathLeave) else judged.target
