"""Tools of MCP servers as flow classes."""

from collections.abc import Coroutine
from pathlib import Path

import pytest
from anyio import to_thread
from sources.mcp.mcp_kit import raw, served
from support import settle

from holdfast.contract.failure import FailureKind
from holdfast.contract.flow import FlowToolCall
from holdfast.contract.json_value import JsonObject
from holdfast.contract.runtime import Runtime, SessionFacts
from holdfast.execution.drive import LoopCaller
from holdfast.runtime.abort import Abort
from holdfast.sources.flow_class import tool_from_flow
from holdfast.sources.mcp.flow import FlowWorld, flow_tools
from holdfast.testing.fakes import FakeFlowSession, FakeProgress

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]


@pytest.mark.req("RATH-FTC-11")
async def test_a_tool_of_a_program_is_a_flow_tool_whose_text_is_joined(workspace: Path) -> None:
    caller = LoopCaller()

    def wait(work: Coroutine[object, object, JsonObject]) -> JsonObject:
        return caller.begin(work)[0]()

    runtime = Runtime(
        call_id="cal_flow",
        session=SessionFacts(id="ses_flow"),
        progress=FakeProgress(),
        abort=Abort(),
    )
    async with served(workspace, raw(workspace)) as servers:
        made = {one.name: one for one in flow_tools(servers, FlowWorld(wait, runtime))}
        echo, fail = made["raw_echo"], made["raw_fail"]
        assert isinstance(echo, FlowToolCall)
        assert not echo.parallel_safe
        assert echo.resource_key({}) == ("global",)
        assert echo.description == "A tool of the tests."
        assert echo.parameters["type"] == "object"
        session = FakeFlowSession()
        sent: dict[str, object] = {"text": "hi"}
        assert await to_thread.run_sync(echo, session, sent) == sent
        nothing: dict[str, object] = {}
        mixed = await to_thread.run_sync(made["raw_mixed"], session, nothing)
        assert mixed == {"text": "see"}
        answer = await settle(tool_from_flow(echo, session), {"text": "hi"})
        assert answer.result == {"text": "hi"}
        refused = await settle(tool_from_flow(fail, session), {})
        assert refused.failure is not None
        assert refused.failure.kind == FailureKind.EXECUTION_ERROR
