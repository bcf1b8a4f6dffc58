"""Flow tools from end to end: through a Holdfast, in the local backend, on real files."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from support import settle
from tools_flow.counting import CountingBackend

from holdfast import Holdfast
from holdfast.contract.failure import FailureKind
from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.execution.backends.registry import Registry
from holdfast.flow import (
    BackendToolFilesRead,
    SandboxBinding,
    serialize,
    tool_from_flow,
)
from holdfast.tools.flow import FLOW_BUILTINS

pytestmark = pytest.mark.anyio


class ReadText(FlowToolCall):
    """The design's own example."""

    @property
    def name(self) -> str:
        return "read_text"

    @property
    def parameters(self) -> Mapping[str, object]:
        return {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
            "additionalProperties": False,
        }

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        call = BackendToolFilesRead(path=str(arguments["path"]))
        return session.require_sandbox().dispatch(call)


class Words(ReadText):
    """It only computes."""

    @property
    def name(self) -> str:
        return "words"

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"type": "object", "properties": {"text": {"type": "string"}}}

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        return {"words": len(str(arguments["text"]).split())}


@pytest.mark.req("RATH-BLT-01", "RATH-BLT-02", "RATH-BLT-04", "RATH-LAY-05", "RATH-DSP-01")
async def test_the_built_in_tools_work_in_the_sessions_sandbox(tmp_path: Path) -> None:
    assert {"run_shell_command", "write_workspace_file"} <= FLOW_BUILTINS.keys()
    place = tmp_path.resolve() / "place"
    with SandboxBinding().to("local", str(place)) as session:
        tools = [tool_from_flow(tool, session) for tool in FLOW_BUILTINS.values()]
        async with Holdfast(tools=tools) as hf:
            wrote = await hf.settle("write_workspace_file", {"path": "a/é.md", "content": "é\n"})
            assert wrote.result == {"bytes_written": 3}
            assert (place / "a/é.md").read_bytes() == "é\n".encode()
            ran = await hf.settle("run_shell_command", {"cmd": "cat a/*; pwd; exit 3"})
            assert isinstance(ran.result, dict)
            assert ran.result["exit_code"] == 3
            assert ran.result["stdout"] == f"é\n{place}\n"
            read = await hf.settle("read_workspace_file", {"path": "a/é.md"})
            assert read.result == {"data": "é\n"}
            listed = await hf.settle("list_workspace_files", {"path": "."})
            assert listed.result == {
                "entries": [{"name": "a", "path": f"{place}/a", "is_dir": True}]
            }
            found = await hf.settle("workspace_path_exists", {"path": "nothing"})
            assert (found.ok, found.result) == (True, False)
            code = await hf.settle("run_code", {"code": "print(6 * 7)"})
            assert isinstance(code.result, dict)
            assert (code.result["stdout"], code.result["error"]) == ("42\n", None)
            late = await hf.settle("run_code", {"code": "while True: pass", "timeout": 0.3})
            assert late.failure is not None
            assert late.failure.kind is FailureKind.TIMEOUT


@pytest.mark.req("RATH-PAY-14")
async def test_a_tool_of_ones_own_gives_the_files_text_as_data(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("hello")
    with SandboxBinding().to("local", str(tmp_path)) as session:
        given = ReadText()(session, {"path": "note.md"})
        assert json.loads(serialize(given)) == {"data": "hello"}
        settled = await settle(tool_from_flow(ReadText(), session), {"path": "note.md"})
        assert settled.result == {"data": "hello"}


@pytest.mark.req("RATH-BKD-06")
async def test_a_path_that_leads_out_is_an_invalid_argument(tmp_path: Path) -> None:
    with SandboxBinding().to("local", str(tmp_path)) as session:
        for path in ("/etc/passwd", "../x"):
            settled = await settle(tool_from_flow(ReadText(), session), {"path": path})
            failure = settled.failure
            assert failure is not None
            assert (failure.kind, failure.field) == (FailureKind.INVALID_ARGS, "path")
            assert failure.extras["error_kind"] == "os_error"
            assert failure.expected is not None


async def test_a_missing_directory_is_not_found(tmp_path: Path) -> None:
    with SandboxBinding().to("local", str(tmp_path)) as session:
        tool = tool_from_flow(FLOW_BUILTINS["list_workspace_files"], session)
        failure = (await settle(tool, {"path": "nothing"})).failure
        assert failure is not None
        assert (failure.kind, failure.field) == (FailureKind.NOT_FOUND, "path")
        assert failure.extras["error_kind"] == "os_error"


async def test_a_session_without_a_sandbox_is_unavailable() -> None:
    session = SandboxBinding()
    failure = (await settle(tool_from_flow(ReadText(), session), {"path": "x"})).failure
    assert failure is not None
    assert failure.kind is FailureKind.UNAVAILABLE
    assert "session.to(" in failure.message


@pytest.mark.req("RATH-DIR-01", "RATH-DIR-02")
async def test_a_tool_that_only_computes_needs_and_opens_no_sandbox() -> None:
    backend = CountingBackend()
    registry = Registry({"counting": lambda: backend})
    for session in (SandboxBinding(), SandboxBinding(registry).to("counting")):
        settled = await settle(tool_from_flow(Words(), session), {"text": "a b c"})
        assert settled.result == {"words": 3}
        assert session.sandbox is None
    assert backend.opened == 0
    refused = await settle(
        tool_from_flow(FLOW_BUILTINS["run_shell_command"], SandboxBinding(registry).to("counting")),
        {"cmd": "a\nb"},
    )
    assert refused.failure is not None
    assert refused.failure.kind is FailureKind.INVALID_ARGS
    assert backend.opened == 0
