"""The four file tools of a flow session. Each names one path and sends one payload."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from holdfast.contract.backend import (
    BackendTool,
    BackendToolFilesExists,
    BackendToolFilesList,
    BackendToolFilesRead,
    BackendToolFilesWrite,
)
from holdfast.contract.flow import FlowSession, FlowToolCall

_PATH = {"type": "string", "description": "Path in the workspace, e.g. `notes/today.md`"}


class _PathTool(FlowToolCall):
    """What the four have in common: a path, and the key that keeps two calls on it apart."""

    _name: ClassVar[str]
    _description: ClassVar[str]
    _key: ClassVar[str]
    _further: ClassVar[Mapping[str, object]] = {}
    _required: ClassVar[tuple[str, ...]] = ("path",)

    @property
    def name(self) -> str:
        """The name models call."""
        return self._name

    @property
    def description(self) -> str:
        """What models read."""
        return self._description

    @property
    def parameters(self) -> Mapping[str, object]:
        """A path, and what else the tool takes."""
        return {
            "type": "object",
            "properties": {"path": _PATH, **self._further},
            "required": list(self._required),
            "additionalProperties": False,
        }

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        """Dispatch the payload."""
        payload = self._payload(arguments)
        return session.require_sandbox().dispatch(payload)

    def resource_key(self, arguments: Mapping[str, object]) -> tuple[str, ...]:
        """The path it touches, and how."""
        return (self._key, str(arguments["path"]))

    @abstractmethod
    def _payload(self, arguments: Mapping[str, object]) -> BackendTool: ...


class WriteWorkspaceFile(_PathTool):
    """Writes a text file."""

    _name = "write_workspace_file"
    _description = "Write a UTF-8 text file into the workspace. Answers with bytes_written."
    _key = "fs:write"
    _further: ClassVar[Mapping[str, object]] = {
        "content": {"type": "string", "description": "The whole text, e.g. `# Today`"}
    }
    _required = ("path", "content")

    def _payload(self, arguments: Mapping[str, object]) -> BackendTool:
        content = arguments["content"]
        if not isinstance(content, str):
            raise TypeError("content must be text for write_workspace_file")
        return BackendToolFilesWrite(path=str(arguments["path"]), data=content)


class ReadWorkspaceFile(_PathTool):
    """Reads a file."""

    _name = "read_workspace_file"
    _description = "Read a file of the workspace. Answers with data."
    _key = "fs:read"
    _further: ClassVar[Mapping[str, object]] = {
        "encoding": {
            "type": ["string", "null"],
            "description": "Its encoding, e.g. `utf-8`; null reads bytes",
            "default": "utf-8",
        }
    }

    def _payload(self, arguments: Mapping[str, object]) -> BackendTool:
        encoding = arguments.get("encoding", "utf-8")
        return BackendToolFilesRead(
            path=str(arguments["path"]), encoding=None if encoding is None else str(encoding)
        )


class ListWorkspaceFiles(_PathTool):
    """Lists a directory."""

    _name = "list_workspace_files"
    _description = "List a directory of the workspace, not recursively. Answers with entries."
    _key = "fs:list"

    def _payload(self, arguments: Mapping[str, object]) -> BackendTool:
        return BackendToolFilesList(path=str(arguments["path"]))


class WorkspacePathExists(_PathTool):
    """Asks whether a path exists."""

    _name = "workspace_path_exists"
    _description = "Ask whether a path exists in the workspace. Answers with ok true or false."
    _key = "fs:stat"

    def _payload(self, arguments: Mapping[str, object]) -> BackendTool:
        return BackendToolFilesExists(path=str(arguments["path"]))
