"""A model goes on with a session: which rows come of it, what tools are given, when it ends."""

import json
import logging
from collections.abc import Mapping, Sequence
from typing import cast

import pytest
from flow_kit import (
    UNKEPT,
    Does,
    Scripted,
    agent,
    asks,
    gives,
    kinds,
    raising,
    results,
    says,
    user,
)

from holdfast import ConfigurationError
from holdfast.contract.chunks import AssistantChunk, ChunkTable, ToolResultChunk
from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import FinishReason, ModelReply, TextDelta
from holdfast.contract.transcript import TokenUsage
from holdfast.flow import (
    Session,
    ToolNameConflictError,
    run_session_loop,
    run_session_loop_async,
    table_schemas,
    tool_table,
)
from holdfast.tools.flow import FLOW_BUILTINS


def _ran(model: Scripted, *tools: FlowToolCall, **options: object) -> Session:
    chosen = {**UNKEPT, **options}
    out = run_session_loop(user(), agent(), model, tools, **chosen)  # type: ignore[arg-type] - options of the tests
    out.wait()
    return out


@pytest.mark.req("RATH-LOP-08", "RATH-FTC-08", "RATH-LOP-12")
def test_each_call_leaves_one_result_in_the_order_of_the_calls() -> None:
    model = Scripted(asks(("a", "{}"), ("b", "{}"), ("a", "{}"), text="so"), says("done"))
    out = _ran(model, gives("b", 2), gives("a", "one"))
    answer, *rest = out.chunk_table.rows[1:]
    assert isinstance(answer, AssistantChunk)
    assert answer.content == "so"
    assert [call.name for call in answer.tool_calls or ()] == ["a", "b", "a"]
    assert rest == [
        ToolResultChunk("c1", "a", '"one"'),
        ToolResultChunk("c2", "b", "2"),
        ToolResultChunk("c3", "a", '"one"'),
        AssistantChunk("done"),
    ]


@pytest.mark.req("RATH-LOP-01")
def test_a_call_goes_through_the_table_the_executor_and_the_tool_to_its_row() -> None:
    steps: list[object] = []

    class Watching:
        def complete(self, rows: ChunkTable, tools: Sequence[Mapping[str, object]]) -> ModelReply:
            return says("done") if len(rows) > 2 else asks(("probe", '{"n": 1}'))

        def dispatch_tool(
            self, session: Session, tool: FlowToolCall, arguments: JsonObject
        ) -> object:
            steps.append(("dispatched", session.id, tool, dict(arguments)))
            return tool(session, arguments)

        def tool_schemas(self) -> list[Mapping[str, object]]:
            return []

    def called(session: FlowSession, arguments: Mapping[str, object]) -> object:
        steps.append(("called", cast("Session", session).id, dict(arguments)))
        return {"words": 3}

    probe = Does("probe", called)
    out = run_session_loop(user(), agent(), None, [probe], executor=Watching())
    assert results(out) == ['{"words": 3}']
    assert steps == [
        ("dispatched", out.id, probe, {"n": 1}),
        ("called", out.id, {"n": 1}),
    ]


@pytest.mark.req("RATH-LOP-02", "RATH-LOP-03", "RATH-LOP-04")
def test_tools_are_given_the_output_session_with_the_rows_so_far() -> None:
    given: list[tuple[FlowSession, list[str]]] = []

    def look(session: FlowSession, _arguments: Mapping[str, object]) -> object:
        given.append((session, kinds(cast("Session", session))))
        return None

    first = user()
    model = Scripted(asks(("look", "{}"), ("look", "{}")), asks(("look", "{}")), says("done"))
    out = run_session_loop(first, agent(), model, [Does("look", look)], **UNKEPT)
    out.wait()
    assert all(session is out for session, _ in given)
    rows = ["user", "assistant", "tool_result", "tool_result", "assistant"]
    assert [seen for _, seen in given] == [rows[:2], rows[:2], rows]
    assert kinds(first) == ["user"]
    assert kinds(out) == [*rows, "tool_result", "assistant"]


@pytest.mark.req("RATH-LOP-04")
def test_what_a_tool_changes_is_the_outputs() -> None:
    first = user()

    def change(session: FlowSession, _arguments: Mapping[str, object]) -> object:
        cast("Session", session).note("by.a.tool", 7)
        cast("Session", session).to("local")
        return None

    model = Scripted(asks(("change", "{}")), says("done"))
    out = run_session_loop(first, agent(), model, [Does("change", change)], **UNKEPT)
    out.wait()
    assert ("by.a.tool", 7) in out.lineage.extras
    assert out.target is not None
    assert (first.lineage.extras, first.target, kinds(first)) == ((), None, ["user"])


@pytest.mark.req("RATH-LOP-11")
def test_the_agents_rows_lead_each_request_and_are_not_copied() -> None:
    model = Scripted(asks(("a", "{}")), says("done"))
    out = _ran(model, gives("a", 1))
    asked = [[type(row).__struct_config__.tag for row in one.rows] for one in model.requests]
    assert asked == [["system", "user"], ["system", "user", "assistant", "tool_result"]]
    assert "system" not in kinds(out)
    assert [model.requests[1].rows[1:], out.chunk_table.rows[3:]] == [
        out.chunk_table.rows[:3],
        (AssistantChunk("done"),),
    ]


def test_the_output_comes_from_both_sessions() -> None:
    first, second = user(), agent()
    out = run_session_loop(first, second, Scripted(says("done")), **UNKEPT)
    assert out.lineage.parent_session_ids == (first.id, second.id)
    assert (out.lineage.kind, out.lineage.operator) == ("op_session_loop", "run_session_loop")
    out.wait()


def _told(out: Session) -> list[str | None]:
    return [row.content for row in out.chunk_table if isinstance(row, AssistantChunk)]


@pytest.mark.req("RATH-LOP-13")
@pytest.mark.parametrize("finish", ["stop", "length", "content_filter"])
def test_an_answer_without_calls_ends_the_loop_when_the_model_is_done(finish: FinishReason) -> None:
    more = says("a", "tool_calls"), says("", "other")
    out = _ran(Scripted(*more, says("c", finish), says("d")))
    assert _told(out) == ["a", "", "c"]
    assert out.lineage.extras == ()


def test_an_answer_that_ends_with_a_word_nobody_knows_is_not_asked_for_again() -> None:
    model = Scripted(says("The answer is 4.", "other"))
    out = _ran(model)
    assert (_told(out), len(model.requests)) == (["The answer is 4."], 1)
    assert out.lineage.extras == ()


@pytest.mark.parametrize(
    "reply", [says("I would call.", "tool_calls"), says("  ", "other"), ModelReply(finish="other")]
)
def test_a_model_that_comes_to_no_end_is_asked_three_times_in_a_row(
    reply: ModelReply, caplog: pytest.LogCaptureFixture
) -> None:
    model = Scripted(reply, asks(("a", "{}")), reply, reply, reply, says("never"))
    with caplog.at_level(logging.WARNING, "holdfast"):
        out = _ran(model, gives("a", 1))
    assert len(model.requests) == 5  # a call in between is an end of the row
    assert out.lineage.extras == (("loop.truncated", True),)
    assert "stopped after 3 replies without a call or an end" in caplog.text


@pytest.mark.req("RATH-LOP-14")
def test_a_loop_ends_after_so_many_whole_rounds_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = Scripted(asks(("a", "{}")))
    with caplog.at_level(logging.WARNING, "holdfast"):
        out = _ran(model, gives("a", 1), max_tool_rounds=2)
    assert kinds(out) == ["user", *["assistant", "tool_result"] * 2]
    assert out.lineage.extras == (("loop.truncated", True),)
    assert "stopped after 2 rounds" in caplog.text
    assert len(_ran(Scripted(asks(("a", "{}"))), gives("a", 1)).chunk_table) == 1 + 2 * 64
    done = _ran(Scripted(asks(("a", "{}")), says("done")), gives("a", 1), max_tool_rounds=2)
    assert done.lineage.extras == ()


@pytest.mark.req("RATH-TAB-01")
def test_a_table_is_built_for_each_run_alone() -> None:
    model = Scripted(says("one"))
    _ran(model, gives("mine", 1))
    _ran(model)
    names = [{tool.name for tool in request.tools} for request in model.requests]
    assert names == [{*FLOW_BUILTINS, "mine"}, {*FLOW_BUILTINS}]
    unknown = _ran(Scripted(asks(("mine", "{}")), says("done")))
    assert json.loads(results(unknown)[0])["error_kind"] == "unknown_tool"


@pytest.mark.req("RATH-TAB-02")
def test_the_table_is_a_copy_of_the_built_in_tools_and_then_the_users() -> None:
    table = tool_table([gives("z", 1), gives("a", 2)])
    assert list(table) == [*FLOW_BUILTINS, "z", "a"]
    table.clear()
    assert len(FLOW_BUILTINS) == 6
    with pytest.raises(TypeError):
        FLOW_BUILTINS["z"] = gives("z", 1)  # type: ignore[index] - it cannot be changed


@pytest.mark.req("RATH-TAB-03", "RATH-EDG-01", "RATH-TAB-04", "RATH-TST-02")
async def test_a_name_that_is_taken_is_an_error_before_anything_is_asked() -> None:
    model = Scripted(says("done"))
    words = "user tool 'run_code' shadows a built-in system tool"
    with pytest.raises(ToolNameConflictError, match=words) as shadowed:
        await run_session_loop_async(user(), agent(), model, [gives("run_code", 1)], **UNKEPT)
    assert str(shadowed.value) == words
    assert isinstance(shadowed.value, ValueError)
    twice = [gives("a", 1), gives("a", 2)]
    with pytest.raises(ToolNameConflictError, match="'a' is given twice"):
        await run_session_loop_async(user(), agent(), model, twice, **UNKEPT)
    assert model.requests == []


def test_the_error_of_a_taken_name_is_raised_by_the_call_itself() -> None:
    with pytest.raises(ToolNameConflictError):
        run_session_loop(user(), agent(), Scripted(), [gives("run_code", 1)])


class _Completing:
    """An executor that only completes."""

    def __init__(self, *replies: ModelReply, own: Sequence[Mapping[str, object]] = ()) -> None:
        self._replies = list(replies)
        self._own = own
        self.told: list[list[Mapping[str, object]]] = []

    async def complete(self, rows: ChunkTable, tools: Sequence[Mapping[str, object]]) -> ModelReply:
        self.told.append(list(tools))
        return self._replies.pop(0)

    async def dispatch_tool(
        self, session: Session, tool: FlowToolCall, arguments: JsonObject
    ) -> object:
        return tool(session, arguments)

    def tool_schemas(self) -> Sequence[Mapping[str, object]]:
        return self._own


@pytest.mark.req("RATH-TAB-05", "RATH-TAB-06")
def test_every_completion_is_told_of_the_whole_table_as_functions_sorted_by_name() -> None:
    executor = _Completing(asks(("b", "{}")), says("done"))
    tools = [gives("b", 1), gives("a", 2)]
    run_session_loop(user(), agent(), None, tools, executor=executor).wait()
    expected = table_schemas(tool_table(tools))
    assert executor.told == [expected, expected]
    assert all(one["type"] == "function" for one in expected)
    names = [cast("dict[str, object]", one["function"])["name"] for one in expected]
    assert names == sorted([*FLOW_BUILTINS, "a", "b"])
    model = Scripted(asks(("b", "{}")), says("done"))
    _ran(model, *tools)
    for request in model.requests:
        assert [
            {"name": one.name, "description": one.description, "parameters": one.schema}
            for one in request.tools
        ] == [
            {"description": None, **cast("dict[str, object]", one["function"])} for one in expected
        ]


@pytest.mark.req("RATH-TAB-07", "RATH-LOP-15")
def test_an_executor_may_have_schemas_of_its_own() -> None:
    own = [{"type": "function", "function": {"name": "other"}}]
    executor = _Completing(says("done"), own=own)
    run_session_loop(user(), agent(), None, executor=executor).wait()
    assert executor.told == [own]


@pytest.mark.req("RATH-LOP-15")
def test_an_executor_with_on_event_is_refused() -> None:
    executor = _Completing(says("done"))
    with pytest.raises(ValueError, match="on_event"):
        run_session_loop(user(), agent(), None, executor=executor, on_event=print)


def test_an_executor_that_completes_with_something_else_is_told_so() -> None:
    class Wrong(_Completing):
        async def complete(self, rows: ChunkTable, tools: object) -> ModelReply:
            return cast("ModelReply", "text")

    out = run_session_loop(user(), agent(), None, executor=Wrong())
    with pytest.raises(TypeError, match="must give a ModelReply, not str"):
        out.wait()


def test_what_an_executor_or_a_key_raises_is_a_result() -> None:
    class Keyless(Does):
        def resource_key(self, arguments: Mapping[str, object]) -> tuple[str, ...]:
            raise KeyError("n")

    executor = _Completing(asks(("boom", "{}"), ("keyless", "{}"), ("nope", "{}")), says("done"))
    tools = [
        Does("boom", raising(ValueError("bad x"))),
        Keyless("keyless", raising(AssertionError())),
    ]
    out = run_session_loop(user(), agent(), None, tools, executor=executor)
    told = [json.loads(one) for one in results(out)]
    assert [one["message"] for one in told] == [
        "ValueError: bad x",
        "KeyError: 'n'",
        "unknown tool 'nope'",
    ]


@pytest.mark.req("RATH-LOP-16")
def test_every_piece_of_a_reply_is_told_and_its_row_is_whole() -> None:
    heard: list[object] = []
    out = _ran(Scripted(says("ab", "tool_calls"), says("c")), on_event=heard.append)
    assert heard == [TextDelta("a"), TextDelta("b"), TextDelta("c")]
    assert out.chunk_table.rows[1:] == (AssistantChunk("ab"), AssistantChunk("c"))


@pytest.mark.req("RATH-LOP-17")
def test_a_budget_is_told_once_when_it_is_first_crossed(caplog: pytest.LogCaptureFixture) -> None:
    told: list[tuple[Session, TokenUsage]] = []

    def on_budget(out: Session, usage: TokenUsage) -> None:
        told.append((out, usage))

    turns = (
        says("a", "tool_calls", 60),
        says("b", "tool_calls", 41),
        says("c", cost=9),
    )
    out = _ran(Scripted(*turns), budget_total_tokens=100, on_budget_exceeded=on_budget)
    assert told == [(out, TokenUsage(101, 0, 101))]
    assert out.cumulative_usage.total_tokens == 110
    with caplog.at_level(logging.WARNING, "holdfast"):
        _ran(Scripted(*turns), budget_total_tokens=100)
    assert caplog.text.count("more than its budget of 100") == 1


@pytest.mark.req("RATH-LOP-17")
def test_raising_from_the_budget_ends_the_loop() -> None:
    async def refuse(_out: Session, _usage: TokenUsage) -> None:
        raise PermissionError("no more")

    model = Scripted(says("a", cost=2))
    out = run_session_loop(
        user(), agent(), model, budget_total_tokens=1, on_budget_exceeded=refuse, **UNKEPT
    )
    with pytest.raises(PermissionError, match="no more"):
        out.wait()
    assert kinds(out) == ["user"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_tool_rounds": 0}, "at least 1"),
        ({"max_tol_rounds": 3}, "max_tool_rounds"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        run_session_loop(user(), agent(), Scripted(), **options)  # type: ignore[arg-type] - wrong on purpose


def test_a_loop_without_a_model_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no model is configured"):
        run_session_loop(user(), agent(), **UNKEPT)


def test_a_model_that_writes_half_a_character_is_written_down() -> None:
    out = _ran(Scripted(asks(("a\ud800", "{\ud800")), says("\ud800!")))
    assert out.chunk_table[-1] == AssistantChunk("?!")
    assert json.loads(results(out)[0])["detail"] == "{?"
