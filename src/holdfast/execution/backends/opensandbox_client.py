"""What an OpenSandbox container does with a payload, through the official client's blocking face.

Loaded only when a sandbox is opened: the client is an extra. Everything it raises becomes a failure
value. Paths begin at the container's workspace; the container is the confinement.
"""

import logging
import posixpath
import threading
import time
from datetime import timedelta

from code_interpreter.sync.code_interpreter import CodeInterpreterSync
from opensandbox.config.connection_sync import ConnectionConfigSync
from opensandbox.exceptions import SandboxApiException, SandboxException
from opensandbox.models.execd import Execution, OutputMessage, RunCommandOpts
from opensandbox.models.execd_sync import ExecutionHandlersSync
from opensandbox.models.filesystem import DirectoryListEntry, WriteEntry
from opensandbox.models.sandboxes import Host, Volume
from opensandbox.sync.sandbox import SandboxSync

from holdfast.contract.backend import (
    BackendSandboxSpec,
    BackendTool,
    BackendToolCodeRun,
    BackendToolCommandRun,
    BackendToolFilesExists,
    BackendToolFilesList,
    BackendToolFilesRead,
    BackendToolFilesWrite,
    CodeResult,
    CommandResult,
    FileContent,
    FileEntries,
    FileEntry,
    FileWriteResult,
    OpenedSandbox,
    PathFailure,
    ToolExecutionFailure,
    ToolResult,
)
from holdfast.execution.backends.shown_output import ShownOutput
from holdfast.execution.backends.time_limit import TimeLimit

WORKSPACE = "/workspace"
DEFAULT_IMAGE = "opensandbox/code-interpreter:v1.0.2"
DEFAULT_ENTRYPOINT = ("/opt/opensandbox/code-interpreter.sh",)
DEFAULT_LIFE_SECONDS = 600.0
LANGUAGES = ("bash", "go", "java", "javascript", "python", "typescript")

_SERVERS_GRACE_SECONDS = 30.0
"""The server ends a command so much later than we do: it is for the case that we are gone."""
_NOT_FOUND = 404
_log = logging.getLogger("holdfast")


def open_sandbox(
    domain: str, key: str | None, spec: BackendSandboxSpec
) -> OpenedSandbox | ToolExecutionFailure:
    """Start a container and wait until it answers."""
    connection = ConnectionConfigSync(domain=domain, api_key=key, disable_metrics=True)
    volumes = None
    if spec.working_dir is not None:
        bound = Host(path=posixpath.abspath(spec.working_dir))
        volumes = [Volume(name="workspace", host=bound, mountPath=WORKSPACE)]
    try:
        sandbox = SandboxSync.create(
            spec.image or DEFAULT_IMAGE,
            entrypoint=list(spec.entrypoint or DEFAULT_ENTRYPOINT),
            env=dict(spec.env or {}),
            timeout=timedelta(seconds=spec.timeout or DEFAULT_LIFE_SECONDS),
            volumes=volumes,
            connection_config=connection,
        )
    except Exception as problem:  # noqa: BLE001 - a foreign client may raise anything at all
        return _failed(problem)
    opened = OpenSandboxSandbox(sandbox)
    trouble = opened.make_workspace()
    if trouble is not None:
        opened.close()
        return trouble
    return opened


class OpenSandboxSandbox:
    """One container."""

    def __init__(self, sandbox: SandboxSync) -> None:
        self._sandbox = sandbox
        self._interpreter: CodeInterpreterSync | None = None
        # Code of one language shares one context on the server, which does one thing at a time.
        self._one_at_a_time = threading.Lock()

    def make_workspace(self) -> ToolExecutionFailure | None:
        """The directory that everything begins in."""
        try:
            self._make_directory(WORKSPACE)
        except Exception as problem:  # noqa: BLE001 - a foreign client may raise anything at all
            return _failed(problem)
        return None

    def dispatch(self, payload: BackendTool, /) -> ToolResult | bool:
        """Run one operation; trouble is a value."""
        try:
            return self._dispatched(payload)
        except UnicodeDecodeError as problem:
            return ToolExecutionFailure("unexpected", str(problem), type(problem).__name__)
        except Exception as problem:  # noqa: BLE001 - a foreign client may raise anything at all
            return _failed(problem)

    def close(self) -> None:
        """End the container."""
        if self._interpreter is not None:
            self._interpreter.close()
        self._sandbox.destroy()

    def _dispatched(self, payload: BackendTool) -> ToolResult | bool:
        match payload:
            case BackendToolCommandRun():
                return self._command(payload)
            case BackendToolCodeRun():
                return self._code(payload)
            case BackendToolFilesRead():
                return self._read(payload)
            case BackendToolFilesWrite():
                return self._write(payload)
            case BackendToolFilesList():
                return self._list(payload)
            case BackendToolFilesExists():
                return self._exists(payload)
            case _:
                raise TypeError(f"not a payload: {type(payload).__name__}")

    def _command(self, payload: BackendToolCommandRun) -> ToolResult:
        if payload.stdin is not None:
            return ToolExecutionFailure(
                "unsupported_tool", "an OpenSandbox command takes no stdin", "stdin"
            )
        commands = self._sandbox.commands
        limit = TimeLimit(payload.timeout, commands.interrupt)
        output = _Output(limit)
        last_resort = payload.timeout and payload.timeout + _SERVERS_GRACE_SECONDS
        options = RunCommandOpts(
            working_directory=_absolute(payload.cwd or "."),
            timeout=timedelta(seconds=last_resort) if last_resort else None,
            envs=dict(payload.env) if payload.env else None,
        )
        command = payload.cmd if isinstance(payload.cmd, str) else list(payload.cmd)
        begun = time.monotonic()
        execution = limit.run(
            lambda: commands.run(command, opts=options, handlers=output.handlers())
        )
        elapsed = (time.monotonic() - begun) * 1000
        if execution is None:
            return _too_slow(payload.timeout)
        if execution.exit_code is None:
            return _unended(execution)
        return CommandResult(execution.exit_code, output.stdout(), output.stderr(), elapsed)

    def _code(self, payload: BackendToolCodeRun) -> ToolResult:
        if payload.language not in LANGUAGES:
            known = ", ".join(LANGUAGES)
            return ToolExecutionFailure(
                "unsupported_tool",
                f"OpenSandbox runs {known}, not {payload.language}",
                payload.language,
            )
        with self._one_at_a_time:
            if self._interpreter is None:
                # The first run tells whether it is there; a probe would be one more command.
                self._interpreter = CodeInterpreterSync.create(
                    self._sandbox, skip_health_check=True
                )
            codes = self._interpreter.codes
            limit = TimeLimit(payload.timeout, codes.interrupt)
            output = _Output(limit)
            execution = limit.run(
                lambda: codes.run(
                    payload.code, language=payload.language, handlers=output.handlers()
                )
            )
        if execution is None:
            return _too_slow(payload.timeout)
        texts = [result.text for result in execution.result if result.text]
        return CodeResult(
            "\n".join(texts) or None,
            output.stdout().decode("utf-8", "replace"),
            output.stderr().decode("utf-8", "replace"),
            _error_text(execution),
        )

    def _read(self, payload: BackendToolFilesRead) -> ToolResult:
        path = _absolute(payload.path)
        try:
            content = self._sandbox.files.read_bytes(path)
        except SandboxApiException as problem:
            if problem.status_code != _NOT_FOUND:
                raise
            return ToolExecutionFailure("file_not_found", f"no such file: {payload.path}", path)
        return FileContent(content.decode(payload.encoding) if payload.encoding else content)

    def _write(self, payload: BackendToolFilesWrite) -> ToolResult:
        path = _absolute(payload.path)
        content = payload.data.encode() if isinstance(payload.data, str) else payload.data
        self._make_directory(posixpath.dirname(path))
        entry = WriteEntry(path=path, data=content, mode=_as_digits(payload.mode))
        self._sandbox.files.write_files([entry])
        return FileWriteResult(len(content))

    def _list(self, payload: BackendToolFilesList) -> ToolResult:
        path = _absolute(payload.path)
        try:
            found = self._sandbox.files.list_directory(DirectoryListEntry(path=path, depth=1))
        except SandboxApiException as problem:
            if problem.status_code != _NOT_FOUND:
                raise
            return PathFailure("os_error", f"no such directory: {payload.path}", path, missing=True)
        entries = (
            FileEntry(posixpath.basename(one.path), one.path, one.entry_type == "directory")
            for one in found
        )
        return FileEntries(tuple(sorted(entries, key=lambda entry: entry.name)))

    def _exists(self, payload: BackendToolFilesExists) -> bool:
        path = _absolute(payload.path)
        try:
            return path in self._sandbox.files.get_file_info([path])
        except Exception:  # noqa: BLE001 - a foreign client may raise anything at all
            return False

    def _make_directory(self, path: str) -> None:
        self._sandbox.files.create_directories([WriteEntry(path=path)])


class _Output:
    """What a run printed, as the server tells it: in lines without their ends, or in pieces.

    Old servers send lines and strip them, newer ones what was printed. As long as no piece holds
    a line's end, each is taken for a line.
    """

    def __init__(self, limit: TimeLimit) -> None:
        self._limit = limit
        self._streams = (ShownOutput(), ShownOutput())
        self._begun = [False, False]
        self._in_pieces = [False, False]

    def handlers(self) -> ExecutionHandlersSync:
        """What the client calls. It keeps nothing itself: that would be without bound."""
        return ExecutionHandlersSync(
            on_stdout=lambda message: self._take(0, message),
            on_stderr=lambda message: self._take(1, message),
            on_init=lambda begun: self._limit.named(begun.id),
            skip_accumulation=True,
        )

    def stdout(self) -> bytes:
        """What it printed."""
        return self._streams[0].shown()

    def stderr(self) -> bytes:
        """What it complained about."""
        return self._streams[1].shown()

    def _take(self, number: int, message: OutputMessage) -> None:
        self._in_pieces[number] |= "\n" in message.text
        if self._begun[number] and not self._in_pieces[number]:
            self._streams[number].take(b"\n")
        self._begun[number] = True
        self._streams[number].take(message.text.encode("utf-8", "replace"))


def _absolute(path: str) -> str:
    return posixpath.normpath(posixpath.join(WORKSPACE, path))


def _as_digits(mode: int) -> int:
    """The server reads a mode's octal digits as if they were a decimal number."""
    return int(f"{mode & 0o7777:o}")


def _too_slow(timeout: float | None) -> ToolExecutionFailure:
    return ToolExecutionFailure("timeout", f"it took longer than {timeout} s")


def _unended(execution: Execution) -> ToolExecutionFailure:
    """There is no exit code: it could not be started, or the server stopped telling."""
    if execution.error is not None:
        return ToolExecutionFailure("os_error", execution.error.value, execution.error.name)
    return ToolExecutionFailure("sandbox_sdk_error", "the server did not say how it ended")


def _error_text(execution: Execution) -> str | None:
    error = execution.error
    if error is None:
        return None
    return "\n".join(error.traceback) or f"{error.name}: {error.value}"


def _failed(problem: Exception) -> ToolExecutionFailure:
    told = str(problem) or type(problem).__name__
    if not isinstance(problem, SandboxException):
        _log.debug("the OpenSandbox client failed", exc_info=problem)
    return ToolExecutionFailure("sandbox_sdk_error", told, type(problem).__name__)
