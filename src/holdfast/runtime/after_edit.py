"""Programs of the host for files that a call has changed: run confined, told as warnings.

Whatever a program does, the call has done its work: nothing here is raised. Where the programs come
from is not known here.
"""

import posixpath
import shlex
from collections.abc import Callable, Iterator, Sequence

import msgspec

from holdfast.contract.errors import ToolError
from holdfast.contract.paths import is_within
from holdfast.contract.runtime import Progress, Runtime
from holdfast.contract.shell import CommandLimits, CommandReport
from holdfast.contract.truncate import truncate_for_model

HOOKS_TOOL = "hooks.after_edit"
"""As whom they run: with what is required for them, and not with what the changing tool has."""

_SHOWN = 800


class AfterEditHook(msgspec.Struct, frozen=True, kw_only=True):
    """One program."""

    fits: Callable[[str], bool]
    """Whether it is for a path of the workspace."""
    command: tuple[str, ...]
    seconds: float

    def argv(self, path: str) -> list[str]:
        """With the file in its place. A name that begins with a dash is no option."""
        named = f"./{path}" if path.startswith("-") else path
        return [word.replace("{path}", named) for word in self.command]


class CallHooks:
    """The programs, for the files of one call."""

    def __init__(self, runtime: Runtime, hooks: Sequence[AfterEditHook]) -> None:
        self._runtime = msgspec.structs.replace(runtime, tool=HOOKS_TOOL)
        self._hooks = hooks

    def changed(self, paths: Sequence[str], /) -> None:
        """Have them look at these files; what they find goes with the answer."""
        if self._hooks:
            for path in dict.fromkeys(map(self._shown, paths)):
                self._runtime.hand.notice(self._runtime.call_id, self._told(path))

    def _shown(self, path: str) -> str:
        root = self._runtime.session.workspace or "/"
        whole = posixpath.normpath(posixpath.join(root, path))
        return posixpath.relpath(whole, root) if is_within(whole, root) else whole

    def _told(self, path: str) -> Iterator[str]:
        for hook in self._hooks:
            if self._runtime.abort.aborted:
                return
            if hook.fits(path):
                yield from self._run(hook, path)

    def _run(self, hook: AfterEditHook, path: str) -> Iterator[str]:
        rt, argv = self._runtime, hook.argv(path)
        name = shlex.join(argv)[:_SHOWN]
        rt.progress(Progress(message=f"after the edit: {name}"))
        try:
            before = rt.fs.read_bytes(path)
            report = rt.wait(rt.shell.run(argv, limits=CommandLimits(wall=hook.seconds)))
        except ToolError as problem:
            yield f"`{name}` was not run: {problem}"
            return
        said = _said(report, hook.seconds)
        if said is not None:
            yield f"`{name}` {said}"
        yield from self._changed(name, path, before)

    def _changed(self, name: str, path: str, before: bytes) -> Iterator[str]:
        try:
            after = self._runtime.fs.read_bytes(path)
        except ToolError as problem:
            yield f"`{name}` left {path} so that it cannot be read: {problem}"
            return
        if after != before:
            yield f"`{name}` changed {path} after the edit: read it again before the next one."


def _said(report: CommandReport, seconds: float) -> str | None:
    """What is worth telling: a program that is content is silent."""
    if report.unstarted is not None:
        return f"could not be started: {report.unstarted}"
    if report.killed_by == "timeout":
        return f"took longer than {seconds:g} s and was stopped."
    if report.killed_by is not None:
        return f"was stopped ({report.killed_by})."
    if report.exit_code == 0:
        return None
    printed = f"{report.stdout.text()}{report.stderr.text()}".strip()
    shown = truncate_for_model(printed, _SHOWN)
    return f"ended with exit code {report.exit_code}" + (f":\n{shown}" if shown else ".")
