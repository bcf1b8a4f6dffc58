"""Every way a call can end, through the real pipeline: one envelope, one of eight kinds."""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import anyio
import msgspec
import pytest
from support import make_call, make_judge, make_pipeline, make_tool, settle

from holdfast import ToolEnvelope, require_string
from holdfast.contract.backend import ToolExecutionFailure
from holdfast.contract.call import RawArguments
from holdfast.contract.envelope import Envelope
from holdfast.contract.errors import InvalidArguments, Unavailable
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject
from holdfast.contract.ports import Answer, Judge
from holdfast.contract.rules import Rule
from holdfast.contract.runtime import Runtime, SessionFacts
from holdfast.contract.tool import Limits, RunStyle, Tool
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Inspection, Opinion
from holdfast.envelope.dialects import ok, typed
from holdfast.envelope.redact import Redactor
from holdfast.execution.sidecars import SidecarFiles
from holdfast.runtime.abort import Abort
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.pipeline import Parts, Pipeline
from holdfast.testing.fakes import FakeApprover, FakeProgress

pytestmark = pytest.mark.anyio

Values = Mapping[str, object]

WRITE_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "content": {"type": "string", "description": "non-empty string of file contents"},
    },
    "required": ["path", "content"],
    "additionalProperties": False,
}


def _write(_values: Values, _runtime: Runtime) -> Envelope:
    return ToolEnvelope.success({"path": "foo.txt", "size": 123}, warnings=["slow disk"])


WRITER = make_tool(_write, name="sandbox_write_file", schema=WRITE_SCHEMA)
GOOD_CALL: JsonObject = {"path": "foo.txt", "content": "x"}


def _failure(envelope: Envelope) -> Failure:
    assert envelope.failure is not None
    return envelope.failure


def _boom(_values: Values, _runtime: Runtime) -> NoReturn:
    raise ValueError("bad x")


async def _slow(_values: Values, _runtime: Runtime) -> None:
    await anyio.sleep(10)


def _asking(tool: Tool) -> Tool:
    return msgspec.structs.replace(tool, permission_policy="always_ask")


def _judged_by(judge: Judge, tool: Tool, root: Path) -> Pipeline:
    return Pipeline(
        Parts(
            catalog=Catalog([tool]),
            judge=judge,
            approver=FakeApprover(),
            clock=SystemClock(),
            ids=TimeIds(SystemClock()),
            sidecars=SidecarFiles(root),
            redactor=Redactor(),
            session=SessionFacts(id="ses_test"),
            progress=FakeProgress(),
        )
    )


_FORBIDS = make_judge(
    Rule(
        permission="*",
        pattern="*",
        action="deny",
        scope="manifest",
        source="the test",
        reason="Writing is not allowed here.",
    )
)


async def _every_failure(root: Path) -> dict[str, Envelope]:
    """One envelope for every way of failing that exists."""
    denied = FakeApprover([Answer(allowed=False, by="ada", note="not today")])
    pulled = Abort()
    pulled.set()
    slow = make_tool(_slow, style="async", limits=Limits(wall_seconds=0.02))
    return {
        "unparseable": await settle(WRITER, "{oops"),
        "schema": await settle(WRITER, {"path": 5}),
        "unknown": await make_pipeline(WRITER).settle(make_call("nope", "{}"), Abort()),
        "rule": await _judged_by(_FORBIDS, WRITER, root).settle(
            make_call(WRITER.name, GOOD_CALL), Abort()
        ),
        "headless": await settle(_asking(WRITER), GOOD_CALL),
        "person": await settle(_asking(WRITER), GOOD_CALL, approver=denied),
        "timeout": await settle(slow),
        "fault": await settle(make_tool(_boom)),
        "abort": await settle(WRITER, GOOD_CALL, abort=pulled),
    }


KINDS = {
    "unparseable": FailureKind.INVALID_ARGS,
    "schema": FailureKind.INVALID_ARGS,
    "unknown": FailureKind.TOOL_NOT_FOUND,
    "rule": FailureKind.REJECTED,
    "headless": FailureKind.REJECTED,
    "person": FailureKind.USER_DENIED,
    "timeout": FailureKind.TIMEOUT,
    "fault": FailureKind.EXECUTION_ERROR,
    "abort": FailureKind.EXECUTION_ERROR,
}


@pytest.mark.req("SPEC-CON-16", "OSA-FAI-02", "OSA-FAI-03", "OSA-FAI-06", "OSA-FAI-07")
async def test_every_failure_has_a_kind_a_message_a_tool_and_says_whether_to_retry(
    tmp_path: Path,
) -> None:
    envelopes = await _every_failure(tmp_path)
    assert {name: _failure(envelope).kind for name, envelope in envelopes.items()} == KINDS
    for envelope in envelopes.values():
        wire = json.loads(ok.render(envelope))
        assert wire["ok"] is False
        assert wire["kind"] in {kind.value for kind in FailureKind}
        assert isinstance(wire["message"], str)
        assert len(wire["message"]) > 4
        assert wire["tool"]
        assert (
            wire["retryable"] is _failure(envelope).kind.retryable or envelope is envelopes["abort"]
        )


async def test_every_failure_reaches_the_model_in_the_same_shape(tmp_path: Path) -> None:
    for envelope in (await _every_failure(tmp_path)).values():
        wire = json.loads(typed.render(envelope))
        assert wire.keys() == {"type", "error_text", "metadata"}
        assert wire["type"] == "error"
        assert type(wire["metadata"]["duration_ms"]) is int


@pytest.mark.req("SPEC-CON-24")
async def test_bad_input_a_missing_capability_and_a_backend_fault_can_be_told_apart() -> None:
    bad = _failure(await settle(WRITER, {"path": "a", "content": ["x"]}))
    assert "content" in bad.message
    assert bad.field == "content"
    assert "string" in bad.message

    def unavailable(_values: Values, _runtime: Runtime) -> NoReturn:
        raise Unavailable("The search index is being rebuilt.")

    gone = _failure(await settle(make_tool(unavailable)))
    fault = _failure(
        await settle(
            make_tool(lambda _values, _runtime: ToolExecutionFailure("os_error", "disk quota"))
        )
    )
    assert gone.message == "The search index is being rebuilt."
    assert fault.message == "disk quota"
    kinds = [bad.kind, gone.kind, fault.kind]
    assert kinds == ["invalid_args", "unavailable", "execution_error"]


@pytest.mark.req("OSA-KND-02", "OSA-FAI-04")
@pytest.mark.parametrize(
    ("arguments", "field"),
    [({"path": "a"}, "content"), ({"path": "a", "content": {}}, "content"), ("{oops", None)],
    ids=["missing", "malformed", "unparseable"],
)
async def test_a_missing_or_malformed_argument_is_invalid_and_named(
    arguments: RawArguments, field: str | None
) -> None:
    failure = _failure(await settle(WRITER, arguments))
    assert (failure.kind, failure.field) == (FailureKind.INVALID_ARGS, field)
    assert failure.retryable is True


@pytest.mark.req("OSA-KND-02")
async def test_an_argument_that_does_not_fit_the_scope_is_invalid() -> None:
    def body(_values: Values, _runtime: Runtime) -> NoReturn:
        raise InvalidArguments("There is no branch of that name in this repository.")

    failure = _failure(await settle(make_tool(body)))
    assert (failure.kind, failure.retryable) == (FailureKind.INVALID_ARGS, True)


@pytest.mark.req("OSA-FAI-10", "OSA-FAI-05")
async def test_a_missing_content_renders_as_published() -> None:
    def write(values: Values, _runtime: Runtime) -> object:
        content = require_string(values, "content", expected="non-empty string of file contents")
        return content if isinstance(content, Envelope) else {"size": len(content)}

    tool = make_tool(write, name="sandbox_write_file")
    wire = json.loads(ok.render(await settle(tool, {"path": "foo.txt"})))
    assert wire.pop("message").startswith("Missing required argument `content`")
    assert wire.pop("metadata").keys() == {"duration_ms"}
    assert wire == {
        "ok": False,
        "kind": "invalid_args",
        "field": "content",
        "expected": "non-empty string of file contents",
        "tool": "sandbox_write_file",
        "retryable": True,
    }


@pytest.mark.req("OSA-ENV-09", "OSA-ENV-02", "OSA-ENV-10")
async def test_a_file_write_renders_with_exactly_the_published_keys() -> None:
    wire = json.loads(ok.render(await settle(WRITER, GOOD_CALL)))
    assert wire.keys() == {"ok", "tool", "result", "warnings", "metadata"}
    assert wire["ok"] is True
    assert wire["tool"] == "sandbox_write_file"
    assert wire["result"] == {"path": "foo.txt", "size": 123}
    assert wire["warnings"] == ["slow disk"]
    assert wire["metadata"].keys() == {"duration_ms"}


@pytest.mark.req("OSA-KND-03", "OSA-ERR-08")
async def test_a_call_blocked_by_policy_is_rejected(tmp_path: Path) -> None:
    call = make_call(WRITER.name, GOOD_CALL)
    failure = _failure(await _judged_by(_FORBIDS, WRITER, tmp_path).settle(call, Abort()))
    assert (failure.kind, failure.retryable) == (FailureKind.REJECTED, False)
    assert failure.message == (
        "Execution denied by policy for tool: sandbox_write_file. The manifest rule * '*'"
        " (the test) denies running it. Writing is not allowed here."
    )


@pytest.mark.req("OSA-KND-04", "OSA-ERR-07", "SPEC-CON-18")
async def test_a_person_who_refuses_is_user_denied_and_nobody_there_is_rejected() -> None:
    refusing = FakeApprover([Answer(allowed=False, by="ada", note="not today")])
    refused = _failure(await settle(_asking(WRITER), GOOD_CALL, approver=refusing))
    assert (refused.kind, refused.retryable) == (FailureKind.USER_DENIED, False)
    assert "not today" in refused.message
    nobody = _failure(await settle(_asking(WRITER), GOOD_CALL, approver=FakeApprover([None])))
    assert (nobody.kind, nobody.retryable) == (FailureKind.REJECTED, False)


@pytest.mark.req("SPEC-CON-19", "OSA-KND-05")
@pytest.mark.parametrize("style", ["async", "thread"])
async def test_a_call_past_the_runtimes_budget_timed_out(style: RunStyle) -> None:
    def blocks(_values: Values, runtime: Runtime) -> None:
        stopped.wait(2)

    stopped = threading.Event()
    body = _slow if style == "async" else blocks
    tool = make_tool(body, name="slow", style=style, limits=Limits(wall_seconds=0.05))
    failure = _failure(await settle(tool))
    stopped.set()
    assert (failure.kind, failure.retryable) == (FailureKind.TIMEOUT, True)
    assert failure.message == "Tool 'slow' exceeded the 0.05s execution budget."


@pytest.mark.req("OSA-KND-09", "SPEC-CON-22")
async def test_an_unknown_tool_is_reported_before_anything_else_is_looked_at(
    tmp_path: Path,
) -> None:
    asked: list[str] = []

    def watch(inspection: Inspection, /) -> Opinion:
        asked.append(inspection.tool)
        return NOTHING_AGAINST_IT

    pipeline = _judged_by(make_judge(hooks=[watch]), WRITER, tmp_path)
    failure = _failure(await pipeline.settle(make_call("nope", {"path": 5}), Abort()))
    assert (failure.kind, failure.retryable) == (FailureKind.TOOL_NOT_FOUND, False)
    assert "nope" in failure.message
    assert asked == []
    both = _failure(await pipeline.settle(make_call("nope", "{oops"), Abort()))
    assert both.kind is FailureKind.INVALID_ARGS
    assert "could not be parsed" in both.message


async def test_every_failed_call_ends_in_one_json_object(tmp_path: Path) -> None:
    for envelope in (await _every_failure(tmp_path)).values():
        assert isinstance(json.loads(ok.render(envelope)), dict)
        assert ok.parse(ok.render(envelope)).failure == envelope.failure
