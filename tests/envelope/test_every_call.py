"""Whatever kind of tool ran, and wherever its answer came from: one envelope, named and whole."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import NoReturn, cast

import anyio.lowlevel
import msgspec
import pytest
from support import make_tool, settle

from holdfast import ToolEnvelope
from holdfast.contract.backend import BackendFailureKind, CommandResult, ToolExecutionFailure
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Ownership, RunStyle
from holdfast.envelope.dialects import flow_text, ok
from holdfast.sources.flow_class import tool_from_flow
from holdfast.testing.fakes import FakeFlowSession
from holdfast.tools.flow import FLOW_BUILTINS

pytestmark = pytest.mark.anyio

Values = Mapping[str, object]


def _failure(envelope: Envelope) -> Failure:
    assert envelope.failure is not None
    return envelope.failure


def _boom(_values: Values, _runtime: Runtime) -> NoReturn:
    raise ValueError("bad x")


BACKEND: dict[BackendFailureKind, tuple[str, bool]] = {
    "file_not_found": ("not_found", False),
    "timeout": ("timeout", True),
    "sandbox_closed": ("unavailable", True),
    "unsupported_tool": ("unavailable", False),
    "sdk_missing": ("unavailable", False),
    "os_error": ("execution_error", True),
    "unexpected": ("execution_error", True),
    "dispatch_error": ("execution_error", True),
    "sandbox_sdk_error": ("execution_error", True),
}


@pytest.mark.req("RATH-PAY-16")
@pytest.mark.parametrize(("kind", "expected"), BACKEND.items())
async def test_a_backend_failure_is_one_of_the_eight_kinds_and_keeps_its_own(
    kind: BackendFailureKind, expected: tuple[str, bool]
) -> None:
    returned = ToolExecutionFailure(kind, "it broke", "the detail")
    flow = FLOW_BUILTINS["list_workspace_files"]
    tool = tool_from_flow(flow, FakeFlowSession([returned]))
    failure = _failure(await settle(tool, {"path": "."}))
    assert (failure.kind.value, failure.retryable) == expected
    assert failure.message == "it broke"
    assert failure.extras == {"error_kind": kind, "detail": "the detail"}
    without = ToolExecutionFailure(kind, "it broke")
    bare = _failure(await settle(make_tool(lambda _values, _runtime: without)))
    assert bare.extras == {"error_kind": kind}
    assert json.loads(flow_text.serialize(without))["error_kind"] == kind


@pytest.mark.req("OSA-KND-06", "OSA-RES-09")
@pytest.mark.parametrize("exit_code", [0, 2, 127])
async def test_a_shell_tool_reports_any_exit_code_as_a_success_inside_the_envelope(
    exit_code: int,
) -> None:
    session = FakeFlowSession([CommandResult(exit_code, b"out", b"err", 1.5)])
    tool = tool_from_flow(FLOW_BUILTINS["run_shell_command"], session)
    wire = json.loads(ok.render(await settle(tool, {"cmd": "ls"})))
    assert wire["ok"] is True
    assert wire["result"] == {
        "exit_code": exit_code,
        "stdout": "out",
        "stderr": "err",
        "elapsed_ms": 1.5,
    }
    assert not {"exit_code", "stdout", "stderr"} & wire.keys()


@pytest.mark.req("OSA-RES-09")
@pytest.mark.parametrize(
    "returned",
    [
        {"stdout": "o", "stderr": "e", "exit_code": 1},
        '{"stdout":"o","stderr":"e","exit_code":1}',
        CommandResult(1, b"o", b"e", 1.0),
    ],
    ids=["object", "text", "command-result"],
)
async def test_raw_process_output_never_stands_outside_an_envelope(returned: object) -> None:
    wire = json.loads(ok.render(await settle(make_tool(lambda _values, _runtime: returned))))
    assert wire.keys() == {"ok", "tool", "result", "metadata"}


async def _awaited(_values: Values, _runtime: Runtime) -> int:
    await anyio.lowlevel.checkpoint()
    return 7


def _items(_values: Values, _runtime: Runtime) -> Iterator[int]:
    yield 1
    yield 7


async def _async_items(_values: Values, _runtime: Runtime) -> AsyncIterator[int]:
    yield 1
    yield 7


BODIES: dict[RunStyle, Callable[[Values, Runtime], object]] = {
    "inline": lambda _values, _runtime: 7,
    "thread": lambda _values, _runtime: 7,
    "async": _awaited,
    "generator": _items,
    "async_generator": _async_items,
}


@pytest.mark.parametrize("ownership", ["managed", "mcp"])
@pytest.mark.parametrize("style", BODIES)
async def test_every_call_of_every_tool_ends_in_one_envelope(
    style: RunStyle, ownership: Ownership
) -> None:
    tool = msgspec.structs.replace(make_tool(BODIES[style], style=style), ownership=ownership)
    failing = msgspec.structs.replace(make_tool(_boom, style=style), ownership=ownership)
    done, failed = await settle(tool), await settle(failing)
    assert (done.ok, done.result) == (True, 7)
    assert _failure(failed).message == "bad x"
    for answer in (done, failed):
        text = ok.render(answer)
        assert isinstance(json.loads(text), dict)
        assert ok.render(ok.parse(text)) == text


async def test_a_tool_the_application_fulfils_ends_in_one_envelope_as_well() -> None:
    tool = msgspec.structs.replace(make_tool(BODIES["inline"]), ownership="custom")
    answer = await settle(tool)
    assert json.loads(ok.render(answer))["ok"] is False
    assert _failure(answer).kind is FailureKind.UNAVAILABLE


async def test_every_flow_tool_ends_in_one_envelope_too() -> None:
    arguments: JsonObject = {"path": "a", "content": "x", "cmd": "ls", "code": "1"}
    for flow in FLOW_BUILTINS.values():
        required = cast("list[str]", flow.parameters["required"])
        wanted = {key: arguments[key] for key in required}
        answer = await settle(tool_from_flow(flow, FakeFlowSession([True])), wanted)
        assert (answer.ok, answer.result) == (True, True)
        without = await settle(tool_from_flow(flow, FakeFlowSession(sandbox=False)), wanted)
        assert "no sandbox" in _failure(without).message


@pytest.mark.req("OSA-ENV-02", "OSA-FAI-06")
@pytest.mark.parametrize(
    "returned",
    [
        1,
        "text",
        ToolEnvelope.success(1),
        ToolEnvelope.failure("timeout", "m"),
        '{"ok":true,"result":1}',
    ],
    ids=["value", "text", "success", "failure", "envelope-text"],
)
async def test_the_runtime_fills_in_the_tools_name(returned: object) -> None:
    answer = await settle(make_tool(lambda _values, _runtime: returned, name="namer"))
    assert answer.tool == "namer"
    assert json.loads(ok.render(answer))["tool"] == "namer"
