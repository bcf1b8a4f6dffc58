"""The programs for changed files, from the configuration, and what they may reach."""

from collections.abc import Mapping
from typing import NoReturn

from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings
from holdfast.contract.requirements import requirement_set
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Body, Tool
from holdfast.policy.globs import GlobProblem, compile_glob
from holdfast.runtime import after_edit

_REACHED = requirement_set({"fs": {"read": ["**"], "write": ["**"]}, "shell": [{"cmd": "*"}]})
"""The workspace, and the programs the host has named; a ceiling narrows it as it does tools."""


def hooks_of(settings: Settings) -> "tuple[after_edit.AfterEditHook, ...]":
    """The programs; ConfigurationError names the pattern that is none."""
    found: list[after_edit.AfterEditHook] = []
    for place, one in enumerate(settings.hooks.after_edit, 1):
        try:
            fits = compile_glob(one.files, "path")
        except GlobProblem as problem:
            raise ConfigurationError(
                f"hooks.after_edit #{place}: files: {problem}; write for example **/*.py"
            ) from None
        found.append(after_edit.AfterEditHook(fits=fits, command=one.command, seconds=one.seconds))
    return tuple(found)


def hooks_tool(settings: Settings) -> tuple[Tool, ...]:
    """As whom the programs run; nothing where there are none. No model can call it."""
    if not settings.hooks.after_edit:
        return ()
    body = Body(style="inline", invoke=_never)
    return (Tool(name=after_edit.HOOKS_TOOL, description=None, requires=_REACHED, body=body),)


def _never(_arguments: Mapping[str, object], _runtime: Runtime) -> NoReturn:
    raise AssertionError("no catalog has it")
