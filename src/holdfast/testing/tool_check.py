"""A conformance check for tools: run it over everything you register.

It proves what every tool owes: its published fields, arguments checked before the body runs, one
envelope whatever happens, and no exception out of a bad call. A stub stands in for the body, and
only calls that must be refused are made: what a body does is not known here.
"""

from collections.abc import Iterable, Iterator
from typing import cast

import msgspec

from holdfast.contract.call import RawArguments, ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.tool import Body, Tool, ToolDefinitionError
from holdfast.envelope.dialects import ok
from holdfast.envelope.redact import Redactor
from holdfast.policy.judge import PolicyJudge
from holdfast.policy.powers import AgentRules, Looked, Powers
from holdfast.policy.watchdog import Watchdog
from holdfast.runtime.abort import Abort
from holdfast.runtime.catalog import Catalog, compiled
from holdfast.runtime.pipeline import Parts, Pipeline
from holdfast.sources.intake import to_tool
from holdfast.testing.fakes import (
    FakeApprover,
    FakeClock,
    FakeGrants,
    FakeIds,
    FakeProgress,
    FakeSidecars,
)

STRAY_KEY = "holdfast_conformance_stray_key"

BAD_ARGUMENTS: tuple[object, ...] = (
    "{",
    "[1, 2]",
    '"text"',
    "NaN",
    b"\xff\xfe",
    '{"a": ' * 500,
    {1: 2},
    {"x": float("nan")},
)


async def check_tools(tools: Iterable[object]) -> list[str]:
    """Everything that is wrong with the tools, a line each; empty when they conform.

    Takes whatever ``Holdfast(tools=...)`` takes; what is no tool is a line, too.
    """
    problems: list[str] = []
    for candidate in tools:
        try:
            tool = to_tool(candidate)
        except ToolDefinitionError as problem:
            problems.append(str(problem))
            continue
        problems += [f"{tool.name}: {problem}" for problem in _published(tool)]
        problems += [f"{tool.name}: {problem}" for problem in await _called_badly(tool)]
    return problems


def _published(tool: Tool) -> Iterator[str]:
    if not tool.name.strip():
        yield "publishes no name"
    if tool.description is not None and not tool.description.strip():
        yield "publishes an empty description"
    if tool.input_schema.get("type", "object") != "object":
        yield "its input_schema does not describe an object"


async def _called_badly(tool: Tool) -> list[str]:
    entered: list[str] = []
    body = Body(
        style="inline", invoke=lambda _values, _runtime: entered.append(tool.name), decode=None
    )
    watched = msgspec.structs.replace(tool, body=body, permission_policy="always_allow")
    try:
        catalog = Catalog(built_in=[compiled(watched)])
    except ToolDefinitionError as problem:
        return [f"cannot be registered: {problem}"]
    pipeline = _pipeline(catalog)
    problems: list[str] = []
    for arguments in (*BAD_ARGUMENTS, *_stray(tool)):
        # Some are not even arguments by type: that is the point.
        sent = cast("RawArguments", arguments)
        call = ToolCall(id="cal", tool=tool.name, arguments=sent, session_id="ses")
        envelope = await pipeline.settle(call, Abort())
        problems += _judged(envelope, arguments)
    if entered:
        problems.append("its body was entered with arguments that do not fit")
    return problems


def _stray(tool: Tool) -> Iterator[object]:
    if tool.input_schema.get("additionalProperties") is False:
        yield {STRAY_KEY: 1}


def _judged(envelope: Envelope, arguments: object) -> Iterator[str]:
    shown = repr(arguments)[:60]
    if envelope.failure is None or envelope.failure.kind is not FailureKind.INVALID_ARGS:
        yield f"{shown} was not refused as invalid_args"
    elif ok.parse(ok.render(envelope)).failure is None:
        yield f"{shown} did not survive the wire as a failure"


def _pipeline(catalog: Catalog) -> Pipeline:
    return Pipeline(
        Parts(
            catalog=catalog,
            judge=_judge(catalog),
            approver=FakeApprover(),
            clock=FakeClock(),
            ids=FakeIds(),
            sidecars=FakeSidecars(),
            redactor=Redactor(),
            session=SessionFacts(id="ses"),
            progress=FakeProgress(),
        )
    )


def _judge(catalog: Catalog) -> PolicyJudge:
    """Nothing stands in the way: whatever enters the body does so past the checks alone."""
    powers = Powers(
        own=AgentRules(standing={tool.name: "the check itself" for tool in catalog}),
        look=lambda _tool, use: Looked(use),
        watchdog=Watchdog(),
        headless=True,
    )
    return PolicyJudge(powers, FakeGrants(), FakeClock().now)
