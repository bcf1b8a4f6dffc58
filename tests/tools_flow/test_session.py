"""Flow sessions: made, forked, detached, merged and compressed, on sandboxes that they share."""

import threading
from pathlib import Path
from typing import cast

import pytest
from flow_values import TRANSCRIPTS
from hypothesis import given

from holdfast.contract.chunks import (
    AskedCall,
    AssistantChunk,
    ChunkTable,
    Lineage,
    SystemChunk,
    ToolResultChunk,
    UserChunk,
)
from holdfast.contract.transcript import TokenUsage, Transcript
from holdfast.execution.backends.registry import Registry
from holdfast.flow import BackendSandbox, BackendToolFilesWrite, FlowSession, get_backend
from holdfast.runtime.flow_compress import compressed
from holdfast.runtime.flow_session import Session, SessionKind
from holdfast.tools.flow import FLOW_BUILTINS


def _opened(where: Path) -> tuple[Session, BackendSandbox]:
    session = Session.from_user_message("a").to("local", str(where))
    return session, session.require_sandbox()


@pytest.mark.req("RATH-SES-03")
def test_a_session_has_all_that_belongs_to_it(tmp_path: Path) -> None:
    session = Session.from_user_message("hi")
    assert session.id.startswith("ses_")
    assert session.chunk_table == ChunkTable((UserChunk("hi"),))
    assert (session.sandbox, session.target) == (None, None)
    assert session.cumulative_usage == TokenUsage()
    assert session.lineage == Lineage(operator="Session.create", kind="leaf_user")
    assert session.lineage.parent_session_ids == session.lineage.extras == ()
    with session.to("local", str(tmp_path)):
        assert session.sandbox is session.require_sandbox()
        assert session.target is not None
        assert session.target.backend == "local"
    assert len({Session().id for _ in range(100)}) == 100
    assert repr(session) == f"<Session {session.id}: 1 rows, leaf_user>"


def test_a_session_is_one_that_flow_tools_take(tmp_path: Path) -> None:
    with Session.from_user_message("hi").to("local", str(tmp_path)) as session:
        taken: FlowSession = session
        FLOW_BUILTINS["write_workspace_file"](taken, {"path": "a", "content": "b"})
    assert (tmp_path / "a").read_text() == "b"


def test_makers_begin_with_one_row_and_say_so() -> None:
    agent = Session.from_agent_prompt("be brief")
    assert agent.chunk_table == ChunkTable((SystemChunk("be brief"),))
    assert agent.lineage.kind == "leaf_system"
    assert list(Session.create("user", "u").chunk_table) == [UserChunk("u")]
    assert list(Session.create("system", "s").chunk_table) == [SystemChunk("s")]
    empty = Session.create("empty", "never seen")
    assert (len(empty.chunk_table), empty.lineage) == (0, Lineage())


@pytest.mark.req("RATH-SES-10")
@pytest.mark.parametrize("kind", ["", "assistant", "User", "tool_result"])
def test_a_session_of_an_unknown_kind_cannot_be_made(kind: str) -> None:
    with pytest.raises(ValueError, match=f"^unknown kind '{kind}'"):
        Session.create(cast("SessionKind", kind), "x")


def test_rows_usage_and_notes_are_added() -> None:
    session = Session.from_user_message("hi")
    before = session.chunk_table
    call = AssistantChunk(tool_calls=(AskedCall("c1", "run_code", "{}"),))
    session.append(call, ToolResultChunk("c1", "run_code", "{}"))
    session.append(AssistantChunk("done"))
    assert len(before) == 1
    assert list(session.chunk_table)[1:] == [
        call,
        ToolResultChunk("c1", "run_code", "{}"),
        AssistantChunk("done"),
    ]
    session.add_usage(TokenUsage(1, 2, 3))
    session.add_usage(TokenUsage(10, 20, 30))
    assert session.cumulative_usage == TokenUsage(11, 22, 33)
    session.note("loop.truncated", True)
    assert session.lineage.extras == (("loop.truncated", True),)
    assert session.lineage.kind == "leaf_user"


def test_rows_from_many_threads_are_all_there() -> None:
    session = Session()

    def talk(name: int) -> None:
        for number in range(200):
            session.append(UserChunk(f"{name} {number}"))
            session.add_usage(TokenUsage(total_tokens=1))

    threads = [threading.Thread(target=talk, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(session.chunk_table)) == 800
    assert session.cumulative_usage.total_tokens == 800


@pytest.mark.req("RATH-SES-04", "RATH-SES-05")
@pytest.mark.parametrize("operation", ["fork", "detach"])
def test_a_fork_has_a_parent_and_what_is_detached_has_none(operation: str, tmp_path: Path) -> None:
    """Case rath-083."""
    session, handle = _opened(tmp_path)
    session.append(AssistantChunk("b"))
    session.add_usage(TokenUsage(1, 1, 2))
    made = session.fork() if operation == "fork" else session.detach()
    assert made.chunk_table == session.chunk_table
    assert made.id != session.id
    assert made.lineage == Lineage(
        parent_session_ids=(session.id,) if operation == "fork" else (),
        operator=f"Session.{operation}",
        kind="op_fork" if operation == "fork" else "op_detach",
    )
    assert made.cumulative_usage == TokenUsage(), "it has asked no model yet"
    assert made.sandbox is handle
    assert (handle.references, made.target) == (2, session.target)
    made.append(UserChunk("c"))
    assert len(session.chunk_table) == 2
    session.close()
    assert not handle.closed
    made.close()
    assert handle.closed


def test_a_fork_of_an_unopened_session_opens_for_itself(tmp_path: Path) -> None:
    session = Session.from_user_message("a").to("local", str(tmp_path))
    with session.fork() as fork:
        assert fork.sandbox is not None
        assert session.sandbox is None


def test_what_is_made_from_a_session_knows_the_same_backends() -> None:
    registry = Registry({"mine": lambda: get_backend("local")})
    with Session(backends=registry).to("mine").fork().detach() as made:
        assert made.require_sandbox().backend.name == "local"
    with Session(backends=registry).merge(Session()).to("mine") as merged:
        assert merged.sandbox is not None


@pytest.mark.req("RATH-SES-06")
def test_merging_joins_rows_parents_and_usage() -> None:
    """Case rath-081."""
    first, second = Session.from_user_message("a"), Session.from_user_message("b")
    first.add_usage(TokenUsage(1, 2, 3))
    second.add_usage(TokenUsage(10, 20, 30))
    merged = first.merge(second)
    assert list(merged.chunk_table) == [UserChunk("a"), UserChunk("b")]
    assert merged.lineage == Lineage(
        parent_session_ids=(first.id, second.id), operator="Session.merge", kind="op_merge"
    )
    assert (merged.sandbox, merged.target) == (None, None)
    assert merged.cumulative_usage == TokenUsage(11, 22, 33)
    assert (len(first.chunk_table), len(second.chunk_table)) == (1, 1)


@pytest.mark.req("RATH-SES-06")
def test_merging_keeps_the_sandbox_of_the_first(tmp_path: Path) -> None:
    first, handle = _opened(tmp_path / "one")
    second, other = _opened(tmp_path / "two")
    merged = first.merge(second)
    assert merged.sandbox is handle
    assert merged.target == first.target
    assert (handle.references, other.references) == (2, 1)
    merged.require_sandbox().dispatch(BackendToolFilesWrite("x", "y"))
    assert (tmp_path / "one" / "x").exists()
    for session in (first, second, merged):
        session.close()
    assert handle.closed
    assert other.closed


@pytest.mark.req("RATH-SES-07")
def test_two_unopened_sessions_of_different_backends_cannot_be_merged() -> None:
    first, second = Session().to("a"), Session().to("b")
    with pytest.raises(ValueError, match="different backends") as raised:
        first.merge(second)
    assert str(raised.value) == (
        "cannot merge unbound sessions targeting different backends: 'a' vs 'b'"
    )
    with pytest.raises(ValueError, match="different backends: None vs 'b'"):
        Session().merge(second)
    assert Session().to("a", "/one").merge(Session().to("a", "/two")).target == (
        Session().to("a", "/one").target
    )


def test_sessions_of_different_backends_are_merged_when_one_of_them_is_open(tmp_path: Path) -> None:
    opened, handle = _opened(tmp_path)
    elsewhere = Session.from_user_message("b").to("elsewhere")
    assert opened.merge(elsewhere).sandbox is handle
    late = elsewhere.merge(opened)
    assert (late.sandbox, late.target) == (None, elsewhere.target)
    handle.release()
    handle.release()
    assert handle.closed
    with pytest.raises(ValueError, match="'local' vs 'elsewhere'"):
        opened.merge(elsewhere)


def test_a_session_can_be_told_to_keep_no_lineage() -> None:
    silent = [
        Session.from_user_message("a", keeps_lineage=False),
        Session.from_agent_prompt("a", keeps_lineage=False),
        Session.create("user", "a", keeps_lineage=False),
    ]
    for session in silent:
        session.note("x", 1)
        for made in (session, session.fork(), session.detach(), session.merge(Session())):
            assert made.lineage == Lineage()
            assert made.keeps_lineage is False
    assert Session().merge(silent[0]).lineage.parent_session_ids[1] == silent[0].id


@pytest.mark.parametrize("reply", [" short \n", "short"])
def test_a_compressed_session_is_one_row_on_the_same_sandbox(reply: str, tmp_path: Path) -> None:
    user, handle = _opened(tmp_path)
    user.append(AssistantChunk("long"), UserChunk("and long"))
    agent = Session.from_agent_prompt("be brief")
    made = compressed(user, agent, AssistantChunk(reply), TokenUsage(1, 2, 3))
    assert list(made.chunk_table) == [UserChunk("short")]
    assert made.lineage == Lineage(
        parent_session_ids=(user.id, agent.id),
        operator="run_session_compress",
        kind="op_session_compress",
        extras=(("compress.rows", 3),),
    )
    assert made.cumulative_usage == TokenUsage(1, 2, 3)
    assert made.sandbox is handle
    assert (len(user.chunk_table), handle.references) == (3, 2)
    user.close()
    made.close()


@pytest.mark.parametrize("content", [None, "", " \n\t"])
def test_nothing_said_is_no_compressed_session(content: str | None) -> None:
    user, agent = Session.from_user_message("a"), Session.from_agent_prompt("b")
    with pytest.raises(RuntimeError, match="run_session_compress: model returned no text"):
        compressed(user, agent, AssistantChunk(content))


@pytest.mark.parametrize("content", [None, "short"])
def test_compressing_never_runs_tools(content: str | None) -> None:
    """Case rath-084."""
    user, agent = Session.from_user_message("a"), Session.from_agent_prompt("b")
    reply = AssistantChunk(content, (AskedCall("c1", "run_code", "{}"),))
    with pytest.raises(RuntimeError) as raised:
        compressed(user, agent, reply)
    assert str(raised.value) == (
        "run_session_compress: model returned tool calls but tools are disabled"
    )


@given(TRANSCRIPTS)
def test_a_session_that_was_kept_is_the_same_again(transcript: Transcript) -> None:
    session = Session.from_transcript(transcript)
    assert session.transcript() == transcript
    assert (session.sandbox, session.target) == (None, None)
    child = session.fork()
    assert child.lineage.parent_session_ids == (transcript.id,)
