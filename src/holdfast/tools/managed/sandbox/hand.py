"""The hand of a session: carries actions out as the tools of their own do, with the same reach.

Nothing is decided here. A failure is told in the result, and by a code of its own.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import NamedTuple, TypeVar, cast

import msgspec
from anyio import to_thread

from holdfast.contract.after_edit import AfterEdit
from holdfast.contract.errors import Cancelled, InvalidArguments, OperationFailed, ToolError
from holdfast.contract.failure import FailureKind
from holdfast.contract.file_bounds import FileBounds
from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed.sandbox import SandboxDescribed, SandboxDesk, SandboxResult
from holdfast.contract.managed.shell import (
    CommandResult,
    HandError,
    ShellKeeping,
    ShellReading,
)
from holdfast.contract.mounts import Mount
from holdfast.contract.results import Listing
from holdfast.contract.runtime import Runtime
from holdfast.contract.search import FileSearch, LineQuery, PathQuery, WantedKind
from holdfast.contract.told import Told
from holdfast.tools.files import reading
from holdfast.tools.files.writing import refuse_too_large, utf8_size
from holdfast.tools.locked.edit import edit
from holdfast.tools.locked.write import write
from holdfast.tools.managed.sandbox.actions import Given, action_of
from holdfast.tools.managed.sandbox.describing import described
from holdfast.tools.managed.shell import running

_T = TypeVar("_T")

_CODES: Mapping[FailureKind, str] = {
    FailureKind.REJECTED: "denied",
    FailureKind.USER_DENIED: "denied",
    FailureKind.NOT_FOUND: "missing",
    FailureKind.UNAVAILABLE: "busy",
    FailureKind.TIMEOUT: "timeout",
}
_KINDS = ("file", "directory")


class Reached(NamedTuple):
    """What a call is handed."""

    rt: Runtime
    bounds: FileBounds
    after_edit: AfterEdit
    search: FileSearch
    reading: ShellReading
    keeping: ShellKeeping
    desk: SandboxDesk


class MountedHand:
    """Of one call."""

    def __init__(self, reached: Reached) -> None:
        self.reached = reached
        """What it works with."""
        self._resources: tuple[Mount, ...] = ()
        self.warnings: tuple[str, ...] = ()
        """What the last action had to say beside its result."""

    def provision(self, resources: tuple[Mount, ...], /) -> None:
        """Work on these from here on."""
        self._resources = resources

    async def describe(self) -> SandboxDescribed:
        """What it is made of."""
        return await described(self.reached.desk, self._resources)

    async def execute(self, name: str, given: JsonObject, /) -> SandboxResult:
        """Carry an action out."""
        try:
            named, _, checked = action_of({"name": name, "input": given})
            done = await _CARRIED_OUT[named](self, checked)
        except Cancelled:
            raise
        except ToolError as problem:
            return SandboxResult(ok=False, name=name, text=str(problem), error=_error_of(problem))
        if isinstance(done, CommandResult):
            return _of_command(name, done)
        return SandboxResult(ok=True, name=named, text=f"{named}: done.", output=done)

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        return await to_thread.run_sync(work)

    async def inspect(self, _given: Given) -> JsonObject:
        """What is mounted, and how the shell stands."""
        made_of = await self.describe()
        shell = await self.reached.reading.described(None)
        return _plain({"resources": made_of.resources, "shell_state": shell.shell_state})

    async def look(self, given: Given) -> JsonObject:
        """Directories, entries and texts that are read."""
        rt, path = self.reached.rt, given.text("path")
        wanted = reading.Wanted(
            start_line=given.number("start_line"),
            line_count=given.number("line_count"),
            tail_lines=given.number("tail_lines"),
        )
        read = partial(reading.read_any, rt, path, wanted, self.reached.bounds)
        found = await self._in_thread(read)
        if isinstance(found, Listing):
            raise InvalidArguments(f"{path!r} is a directory; use list_dir.", field="input.path")
        most = given.whole("max_chars")
        cut = len(found.text) > most
        shown = msgspec.structs.replace(found, text=found.text[:most])
        return {**_plain(shown), "cut_at_max_chars": cut}

    async def listed(self, given: Given) -> JsonObject:
        """The entries of a directory."""
        path = given.text("path")
        entries = await self._in_thread(lambda: self.reached.rt.fs.list(path))
        shown = entries[: reading.MOST_ENTRIES]
        return _plain({"path": path, "entries": shown, "count": len(entries)})

    async def stat(self, given: Given) -> JsonObject:
        """One entry."""
        path = given.text("path")
        return _plain(await self._in_thread(lambda: self.reached.rt.fs.stat(path)))

    async def written(self, given: Given) -> JsonObject:
        """A whole file."""
        of, path = self.reached, given.text("path")
        put = partial(write.function, of.rt, of.bounds, of.after_edit, path, given.text("content"))
        return {"path": path, **_plain(await self._in_thread(put))}

    async def replaced(self, given: Given) -> JsonObject:
        """A part of a file."""
        of, path = self.reached, given.text("path")
        texts = given.text("old_text"), given.text("new_text"), given.flag("replace_all")
        change = partial(edit.function, of.rt, of.bounds, of.after_edit, path, *texts)
        return {"path": path, **_plain(await self._in_thread(change))}

    async def appended(self, given: Given) -> JsonObject:
        """More at the end of a file."""
        of, path, more = self.reached, given.text("path"), given.text("content")

        def append() -> JsonObject:
            files, bound = of.rt.fs, of.bounds.file_bytes
            refuse_too_large(utf8_size(more), bound, "The content", field="input.content")
            if not files.exists(path):
                done = files.write(path, more, new=True)
            else:
                size = files.stat(path).byte_count + utf8_size(more)
                refuse_too_large(size, bound, f"{path}, appended to,", field="input.content")
                done = files.edit(path, lambda text: text + more)
            of.after_edit.changed([path])
            return {"path": path, "bytes": done.byte_count, "created": done.created}

        return await self._in_thread(append)

    async def made(self, given: Given) -> JsonObject:
        """A directory."""
        path, recursive = given.text("path"), given.flag("recursive")

        def make() -> None:
            files = self.reached.rt.fs
            above = path.rstrip("/").rpartition("/")[0]
            if not recursive and above and files.stat(above).kind != "directory":
                raise OperationFailed(f"{above!r} is no directory.")
            files.make_directory(path)

        await self._in_thread(make)
        return {"path": path}

    async def found(self, given: Given) -> JsonObject:
        """Entries by a part of their name."""
        part, limit = given.text("name"), given.whole("limit")
        wanted = PathQuery(pattern="**/*", path=given.text("path"), kind=_kind(given))
        everything = (await self.reached.search.paths(wanted)).entries
        fitting = [one for one in everything if part in one.path.rstrip("/").rpartition("/")[2]]
        return _plain(
            {"entries": fitting[:limit], "count": len(fitting), "more": len(fitting) > limit}
        )

    async def globbed(self, given: Given) -> JsonObject:
        """Entries by a pattern."""
        wanted = PathQuery(
            pattern=given.text("pattern"),
            path=given.text("path"),
            kind=_kind(given),
            limit=given.whole("limit"),
        )
        return _plain(await self.reached.search.paths(wanted))

    async def grepped(self, given: Given) -> JsonObject:
        """Lines that match."""
        wanted = LineQuery(
            pattern=given.text("pattern"),
            path=given.text("path"),
            regex=given.flag("regex"),
            case_sensitive=given.flag("case_sensitive"),
            limit=given.whole("limit"),
        )
        return _plain(await self.reached.search.lines(wanted))


async def _ran(hand: MountedHand, of: Reached, name: str, given: Given) -> CommandResult:
    wanted = running.Wanted(
        command=given.text("command"),
        cwd=given.maybe("cwd"),
        seconds=given.whole("timeout_ms") / 1000,
        most_shown=given.whole("max_output_chars"),
        anew=given.flag("restart"),
    )
    told: Told[CommandResult]
    if name == "run_command":
        words = await of.desk.words(wanted.command, wanted.cwd)
        told = await running.run_listed(of.rt, of.keeping, wanted, words)
    elif name == "run_shell":
        told = await running.run_once(of.rt, of.keeping, wanted)
    else:
        told = await running.run_persistent(of.rt, of.keeping, wanted)
    hand.warnings = told.warnings
    return told.result


async def _shell(of: Reached, name: str, given: Given) -> JsonObject:
    match name:
        case "inspect_persistent_shell":
            return _plain(await of.reading.last_output(None)) | _plain(
                await of.reading.described(None)
            )
        case "open_persistent_shell":
            cwd, anew = given.maybe("cwd"), given.flag("restart")
            return _plain(await running.opened(of.rt, of.keeping, cwd, anew=anew))
        case "wait_persistent_shell":
            return _plain(await of.reading.wait(given.whole("timeout_ms") / 1000))
        case _:
            return _plain(await of.keeping.closed(await running.closed(of.rt)))


_Way = Callable[[MountedHand, Given], Awaitable[JsonObject | CommandResult]]


def _command(name: str) -> _Way:
    return lambda hand, given: _ran(hand, hand.reached, name, given)


def _of_shell(name: str) -> _Way:
    return lambda hand, given: _shell(hand.reached, name, given)


_CARRIED_OUT: Mapping[str, _Way] = {
    "inspect": MountedHand.inspect,
    "list_dir": MountedHand.listed,
    "read_text": MountedHand.look,
    "write_text": MountedHand.written,
    "append_text": MountedHand.appended,
    "replace_text": MountedHand.replaced,
    "mkdir": MountedHand.made,
    "stat": MountedHand.stat,
    "find_entries": MountedHand.found,
    "glob_entries": MountedHand.globbed,
    "grep_text": MountedHand.grepped,
    **{name: _command(name) for name in ("run_command", "run_shell", "exec_persistent_shell")},
    **{
        f"{name}_persistent_shell": _of_shell(f"{name}_persistent_shell")
        for name in ("inspect", "open", "wait", "close")
    },
}


def _kind(given: Given) -> WantedKind | None:
    kind = given.maybe("kind")
    if kind is None:
        return None
    if kind not in _KINDS:
        raise InvalidArguments(
            f"input.kind: {kind!r} is none", field="input.kind", expected="file or directory"
        )
    return kind


def _of_command(name: str, done: CommandResult) -> SandboxResult:
    return SandboxResult(
        ok=done.ok,
        name=name,
        text=done.text,
        output=None if done.output is None else _plain(done.output),
        artifacts=done.artifacts,
        usage=done.usage,
        error=done.error,
    )


def _error_of(problem: ToolError) -> HandError:
    kind = problem.kind
    retryable = kind.retryable if problem.retryable is None else problem.retryable
    return msgspec.convert(
        {"code": _CODES.get(kind, "failed"), "message": str(problem), "retryable": retryable},
        HandError,
    )


def _plain(value: object) -> JsonObject:
    return cast("JsonObject", msgspec.to_builtins(value, str_keys=True))
