"""Tools of the shape that the design shows run with nothing but other import lines."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from flow_kit import UNKEPT, Scripted, agent, asks, results, says

import holdfast.flow
from holdfast.contract import backend
from holdfast.flow import (
    BackendSandbox,
    BackendToolFilesRead,
    FlowToolCall,
    Session,
    open_sandbox,
    run_session_loop,
)


class Successor(FlowToolCall):
    """Typed in full, with the session's own class: answers by itself."""

    @property
    def name(self) -> str:
        return "add_one"

    @property
    def description(self) -> str | None:
        return "The number after x"

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {
            "type": "object",
            "properties": {"x": {"type": "integer"}},
            "required": ["x"],
            "additionalProperties": False,
        }

    def __call__(self, session: Session, arguments: Mapping[str, Any]) -> int:  # type: ignore[override] - as the design types it
        assert session.chunk_table.rows
        return int(arguments["x"]) + 1


class Reader(FlowToolCall):
    """Typed not at all: hands a payload to the sandbox and returns what that gives."""

    @property
    def name(self):  # noqa: ANN201 - as the design leaves it
        return "read_text"

    @property
    def parameters(self):  # noqa: ANN201 - as the design leaves it
        return {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
            "additionalProperties": False,
        }

    def __call__(self, session, arguments):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN204 - as the design leaves it
        call = BackendToolFilesRead(path=str(arguments["path"]))
        return session.require_sandbox().dispatch(call)


@pytest.mark.req("RATH-GEN-03")
def test_the_two_tools_of_the_design_run_in_a_loop(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("one\ntwo\n", "utf-8")
    user = Session.from_user_message("hi")
    handle = open_sandbox("local", str(tmp_path))
    assert isinstance(handle, BackendSandbox)
    user.bind_sandbox(handle)
    model = Scripted(
        asks(("add_one", '{"x": 41}'), ("read_text", '{"path": "notes.md"}')), says("done")
    )
    out = run_session_loop(user, agent(), model, [Successor(), Reader()], **UNKEPT)
    assert results(out) == ["42", '{"data": "one\\ntwo\\n"}']
    assert [type(row).__name__ for row in out.chunk_table] == [
        "UserChunk",
        "AssistantChunk",
        "ToolResultChunk",
        "ToolResultChunk",
        "AssistantChunk",
    ]
    out.close()
    user.close()


@pytest.mark.req("RATH-GEN-03")
def test_every_payload_and_result_class_is_a_public_name() -> None:
    known = {
        name
        for name, value in vars(backend).items()
        if isinstance(value, type)
        and issubclass(value, backend.BackendTool | backend.ToolResult)
        and value is not backend.PathFailure  # a failure that only says more
    }
    names = {"FlowToolCall", "Session", "run_session_loop", "BackendSandbox"}
    assert known | names <= set(holdfast.flow.__all__)
