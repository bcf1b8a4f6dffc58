"""The shell_classifier suite: which call that only reads is offered for a shell command."""

import shlex
from collections.abc import Iterator

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.policy import read_only
from holdfast.testing.conformance.case import Case, part, same, text

# A case may leave out what the tool takes for granted; the offer says it.
_DEFAULTS: dict[str, JsonObject] = {"grep": {"case_sensitive": True, "regex": True}}
_KNOWN = frozenset({"tool", "args", "note", "why"})


def check(case: Case) -> Iterator[str]:
    """Judge one case."""
    command = text(case, "command")
    cwd = text(case, "cwd") if case.get("cwd") is not None else read_only.WORKSPACE
    extra = part(case, "tool_args") if case.get("tool_args") is not None else {}
    offered = read_only.alternatives(command, cwd, extra).preferred
    found: JsonObject = {"tool": None, "args": {}}
    if offered is not None:
        found = {"tool": offered.tool, "args": offered.args}
    wanted = [part(case, "expect"), *_also(case)]
    if not any(_agree(found, each) for each in wanted):
        yield f"offer: expected {_said(wanted)}, got {_said([found])}"


def _also(case: Case) -> Iterator[JsonObject]:
    others = case.get("also_ok") or []
    if not isinstance(others, list):
        raise ValueError("also_ok is not a list")
    for other in others:
        if not isinstance(other, dict):
            raise ValueError("a member of also_ok is not an object")
        yield other


def _agree(found: JsonObject, wanted: JsonObject) -> bool:
    if "tool" not in wanted or not _KNOWN.issuperset(wanted):
        raise ValueError("an expectation has a tool, args and nothing else")
    if found["tool"] != wanted["tool"]:
        return False
    return found["tool"] is None or same(_meaning(found), _meaning(wanted))


def _meaning(call: JsonObject) -> JsonValue:
    """The arguments with their defaults, and a command as its words: quoting is no difference."""
    args = {**_DEFAULTS.get(text(call, "tool"), {}), **part(call, "args")}
    command = args.get("command")
    if isinstance(command, str):
        args["command"] = [*shlex.split(command)]
    return args


def _said(calls: list[JsonObject]) -> str:
    return " or ".join(
        "nothing" if call["tool"] is None else f"{call['tool']} {call.get('args')!r}"
        for call in calls
    )
