"""A judge, a few tools, and the shortest way to a verdict."""

import msgspec
from policy.rules_kit import rule
from support import make_call, make_tool

from holdfast.contract.call import Ask, Deny, Permit, Prepared, Verdict
from holdfast.contract.json_value import JsonObject
from holdfast.contract.rules import Action
from holdfast.contract.tool import ArgumentUse, Tool
from holdfast.policy.judge import PolicyJudge

PURE = make_tool(name="pure")
WRITER = msgspec.structs.replace(
    make_tool(name="writer"), uses=(ArgumentUse(argument="path", capability="fs.write"),)
)
EDITOR = msgspec.structs.replace(
    make_tool(name="editor"),
    uses=(
        ArgumentUse(argument="path", capability="fs.read"),
        ArgumentUse(argument="path", capability="fs.write"),
    ),
)
SHELL = msgspec.structs.replace(
    make_tool(name="shell"), uses=(ArgumentUse(argument="command", capability="shell.run"),)
)
ASKS = msgspec.structs.replace(PURE, permission_policy="always_ask")
EVERYTHING = rule("*", "**", "allow", "project")


def prepared(tool: Tool, arguments: JsonObject | None = None) -> Prepared:
    given = arguments or {}
    return Prepared(call=make_call(tool.name, given), tool=tool, values=given, checked=given)


def judged(judge: PolicyJudge, tool: Tool, arguments: JsonObject | None = None) -> Verdict:
    verdict = judge(prepared(tool, arguments))
    assert isinstance(verdict, (Permit, Ask, Deny))
    return verdict


def action(verdict: Verdict) -> Action:
    if isinstance(verdict, Permit):
        return "allow"
    return "ask" if isinstance(verdict, Ask) else "deny"
