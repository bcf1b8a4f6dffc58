"""The tools of one flow loop as the pipeline takes them, and the program's grant for the built-in.

Giving a session a sandbox in code is the program's word that payloads may run inside of it. The
grant is looked at with each call, so that it ends with the sandbox, and it is this session's alone.
"""

from collections.abc import Iterator, Mapping

import msgspec

from holdfast.app.judging import InSandbox
from holdfast.contract.flow import FlowToolCall
from holdfast.contract.requirements import RequirementSet, requirement_set
from holdfast.contract.tool import ArgumentUse, Tool
from holdfast.runtime.flow_calls import KeptTexts, kept_tool
from holdfast.runtime.flow_session import Session
from holdfast.tools.flow import FLOW_BUILTINS

_SHELL = requirement_set({"shell": [{"cmd": "*"}]})
_READS = requirement_set({"fs": {"read": ["**"]}})
_WRITES = requirement_set({"fs": {"write": ["**"]}})


class _Does(msgspec.Struct, frozen=True):
    """What the payload of a built-in tool does, in the words of rules."""

    requires: RequirementSet
    argument: str
    capability: str


_DONE: Mapping[str, _Does] = {
    "run_shell_command": _Does(_SHELL, "cmd", "shell.run"),
    "run_code": _Does(_SHELL, "language", "shell.run"),
    "write_workspace_file": _Does(_WRITES, "path", "fs.write"),
    "read_workspace_file": _Does(_READS, "path", "fs.read"),
    "list_workspace_files": _Does(_READS, "path", "fs.read"),
    "workspace_path_exists": _Does(_READS, "path", "fs.read"),
}
"""A language stands for the program that runs its code."""


def loop_tools(
    table: Mapping[str, FlowToolCall], out: Session, texts: KeptTexts
) -> tuple[Tool, ...]:
    """All tools of a loop, bound to its output session."""
    return tuple(_judged(kept_tool(flow, out, texts)) for flow in table.values())


def is_built_in(flow: FlowToolCall) -> bool:
    """Whether it is one of those that ship."""
    return FLOW_BUILTINS.get(flow.name) is flow


def _judged(tool: Tool) -> Tool:
    done = _DONE.get(tool.name)
    if done is None:
        return tool
    uses = (ArgumentUse(argument=done.argument, capability=done.capability),)
    return msgspec.structs.replace(tool, requires=done.requires, uses=uses)


def backend_name(session: Session) -> str | None:
    """Where its payloads run; None: nowhere."""
    handle, target = session.sandbox, session.target
    if handle is not None and not handle.closed:
        return handle.backend.name
    return None if target is None or handle is not None else target.backend


class _Granted(Mapping[str, str]):
    """By tool, the grounds on which it runs now."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __getitem__(self, name: str) -> str:
        backend = backend_name(self._session)
        if backend is None or name not in _DONE:
            raise KeyError(name)
        return grounds(backend)

    def __iter__(self) -> Iterator[str]:
        return iter(()) if backend_name(self._session) is None else iter(_DONE)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def grounds(backend: str) -> str:
    """How the grant is written down."""
    return f"the program gave this flow session the sandbox {backend!r}"


def grant(out: Session) -> InSandbox:
    """What giving the output session a sandbox allows."""
    doubts = "the program gave this flow session a sandbox, which holds whatever a command does"
    return InSandbox(frozenset(_DONE), _Granted(out), doubts)
