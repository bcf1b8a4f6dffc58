"""Rules as targets are told: a path that lies in the workspace is compared from there.

Of a command the text is compared as it stands: `./run.sh` is another program than `run.sh`.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from holdfast.contract.rules import Rule
from holdfast.contract.tool import Tool
from holdfast.policy.globs import compile_glob, escaped
from holdfast.policy.targets import KINDS

_COMMANDS = frozenset(name for name, kind in KINDS.items() if kind == "command")


def from_the_workspace(
    rules: Iterable[Rule], workspace: Path | None, tools: Sequence[Tool]
) -> tuple[Rule, ...]:
    """The rules with the patterns of paths as targets are told."""
    starts = ["./"]
    if workspace is not None:
        starts += [f"{workspace}/", f"{escaped(str(workspace))}/"]
    runners = _COMMANDS | {
        tool.name for tool in tools for use in tool.uses if use.capability in _COMMANDS
    }
    return tuple(found for rule in rules for found in _each(rule, starts, runners))


def _each(rule: Rule, starts: Sequence[str], runners: Iterable[str]) -> Iterator[Rule]:
    local = rule.pattern
    for start in starts:
        local = local.removeprefix(start)
    commands = any(map(compile_glob(rule.permission, "text"), runners))
    if local == rule.pattern or commands:
        yield rule
    # What might be about commands, too, is said of both only where it cannot widen anything.
    if local != rule.pattern and not (commands and rule.action == "allow"):
        yield msgspec.structs.replace(rule, pattern=local)
