"""Small makers that many tests share."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypedDict, Unpack

from holdfast.contract.call import RawArguments, ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.json_value import JsonObject
from holdfast.contract.ports import Approver, Clock, GrantStore, Judge, SidecarStore
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.rules import Rule, Use
from holdfast.contract.runtime import AbortSignal, ProgressSink, Runtime, SessionFacts
from holdfast.contract.tool import Body, Limits, RunStyle, Tool
from holdfast.contract.watchdog import Hook
from holdfast.envelope.redact import Redactor
from holdfast.policy.judge import PolicyJudge
from holdfast.policy.powers import AgentRules, Look, Looked, Powers
from holdfast.policy.watchdog import Watchdog
from holdfast.runtime.abort import Abort
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.pipeline import Parts, Pipeline
from holdfast.testing.fakes import FakeApprover, FakeGrants, FakeProgress, FakeSidecars

OPEN_OBJECT: JsonObject = {"type": "object"}


def make_tool(
    invoke: Callable[[Mapping[str, object], Runtime], object] = lambda _values, _runtime: None,
    *,
    name: str = "probe",
    style: RunStyle = "inline",
    schema: JsonObject | None = None,
    limits: Limits | None = None,
) -> Tool:
    return Tool(
        name=name,
        description="A tool of the tests.",
        input_schema=OPEN_OBJECT if schema is None else schema,
        requires=NOTHING_REQUIRED,
        body=Body(style=style, invoke=invoke),
        limits=limits or Limits(),
    )


class Given(TypedDict, total=False):
    judge: Judge
    approver: Approver
    clock: Clock
    sidecars: SidecarStore
    redactor: Redactor
    progress: ProgressSink


def in_reach(_tool: Tool, use: Use) -> Looked:
    return Looked(use)


def make_judge(
    *rules: Rule,
    hooks: Sequence[Hook] = (),
    headless: bool = False,
    look: Look = in_reach,
    parents: tuple[AgentRules, ...] = (),
    narrowing: tuple[tuple[Rule, ...], ...] = (),
    standing: Mapping[str, str] | None = None,
    grants: GrantStore | None = None,
    granted: tuple[Rule, ...] = (),
) -> PolicyJudge:
    powers = Powers(
        own=AgentRules(rules=rules, granted=granted, standing=standing or {}),
        narrowing=narrowing,
        parents=parents,
        look=look,
        watchdog=Watchdog(hooks),
        headless=headless,
    )
    return PolicyJudge(powers, grants or FakeGrants(), lambda: datetime.now(UTC))


def make_pipeline(*tools: Tool, **given: Unpack[Given]) -> Pipeline:
    return Pipeline(
        Parts(
            catalog=Catalog(tools),
            judge=given.get("judge") or make_judge(standing={tool.name: "" for tool in tools}),
            approver=given.get("approver") or FakeApprover(),
            clock=given.get("clock") or SystemClock(),
            ids=TimeIds(SystemClock()),
            sidecars=given.get("sidecars") or FakeSidecars(),
            redactor=given.get("redactor") or Redactor(),
            session=SessionFacts(id="ses_test"),
            progress=given.get("progress") or FakeProgress(),
        )
    )


def make_call(
    tool: str = "probe", arguments: RawArguments = None, *, session: str = "ses_test"
) -> ToolCall:
    return ToolCall(id="cal_test", tool=tool, arguments=arguments, session_id=session)


async def settle(
    tool: Tool,
    arguments: RawArguments = None,
    *,
    abort: AbortSignal | None = None,
    **given: Unpack[Given],
) -> Envelope:
    pipeline = make_pipeline(tool, **given)
    return await pipeline.settle(make_call(tool.name, arguments), abort or Abort())
