"""The openrath cases that are told in words, each run by hand and held to what its line expects.

The format gives them as prose (`given.flow`), which no runner can play: it skips them and says so.
Here each has a flow of its own, by its id, and none of the file is left out.
"""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from execution.backends.fake_backend import FakeBackend
from flow_kit import UNKEPT, Does, Scripted, agent, asks, gives, kinds, raising, results, says, user

from holdfast.contract.backend import BackendTool, BackendToolFilesExists
from holdfast.contract.chunks import AskedCall, AssistantChunk, UserChunk
from holdfast.contract.model import ModelReply
from holdfast.execution.backends.handle import BackendSandbox
from holdfast.flow import Session, run_session_loop
from holdfast.runtime.flow_compress import compressed
from holdfast.testing.conformance import run

CASES = Path(__file__).parent / "cases" / "openrath.jsonl"
LINES: list[dict[str, Any]] = [
    msgspec.json.decode(line) for line in CASES.read_bytes().splitlines() if line.strip()
]
PROSE = {one["id"]: one["expect"] for one in LINES if "flow" in one["given"]}


def last_reference_closes(folder: Path) -> Mapping[str, object]:
    """rath-074: a loop's output shares the handle of the session it goes on with."""
    first = user().to("local", str(folder))
    handle = first.require_sandbox()
    out = run_session_loop(first, agent(), Scripted(says("done")), [], **UNKEPT)
    out.wait()
    assert out.sandbox is handle
    out.close()
    closed = handle.closed
    first.close()
    return {"closed_after_first": closed, "closed_after_second": handle.closed}


def streams(_folder: Path) -> Mapping[str, object]:
    """rath-080: one stream is first in, first out; two are under way at once."""
    order: list[str] = []
    running: set[str] = set()
    at_once = [0]
    lock = threading.Lock()
    both = threading.Barrier(2)

    def act(payload: BackendTool) -> bool:
        assert isinstance(payload, BackendToolFilesExists)
        with lock:
            running.add(payload.path)
            at_once.append(len(running))
            order.append(payload.path)
        if payload.path.startswith("slow"):
            both.wait(timeout=15)  # neither can end before the other has begun
        with lock:
            running.discard(payload.path)
        return True

    handle = BackendSandbox(FakeBackend(act))
    with handle, handle.stream() as one, handle.stream() as other:
        asked = [one.submit(BackendToolFilesExists(str(number))) for number in range(20)]
        assert all(future.result() for future in asked)
        in_turn = order == [str(number) for number in range(20)] and max(at_once) == 1
        slow = [at.submit(BackendToolFilesExists(f"slow {at}")) for at in (one, other)]
        assert all(future.result() for future in slow)
        overlapped = max(at_once) == 2
    return {
        "one_stream": "strict FIFO, one at a time" if in_turn else order,
        "two_streams": "overlap: total well under 0.6 s" if overlapped else at_once,
    }


def merged(_folder: Path) -> Mapping[str, object]:
    """rath-081."""
    sessions = {"a": Session.from_user_message("a"), "b": Session.from_user_message("b")}
    names = {one.id: name for name, one in sessions.items()}
    made = sessions["a"].merge(sessions["b"])
    return {
        "texts": [row.content for row in made.chunk_table],
        "parents": [names[one] for one in made.lineage.parent_session_ids],
        "kind": made.lineage.kind,
        "sandbox": made.sandbox,
    }


def forked_and_detached(folder: Path) -> Mapping[str, object]:
    """rath-083."""
    first = user().to("local", str(folder))
    handle = first.require_sandbox()
    first.append(AssistantChunk("b"))
    forked, detached = first.fork(), first.detach()
    found = {
        "fork_parents": ["self" if one == first.id else one for one in _parents(forked)],
        "detach_parents": _parents(detached),
        "rows_equal": forked.chunk_table == detached.chunk_table == first.chunk_table,
        "handle_shared": forked.sandbox is detached.sandbox is handle,
    }
    for one in (first, forked, detached):
        one.close()
    return found


def _parents(session: Session) -> list[str]:
    return list(session.lineage.parent_session_ids)


def compressing_with_calls(_folder: Path) -> Mapping[str, object]:
    """rath-084: by the step itself, and by the model that is asked for it."""
    reply = AssistantChunk("short", (AskedCall("c1", "run_code", "{}"),))
    with pytest.raises(RuntimeError) as raised:
        compressed(user(), agent(), reply)
    return {"raises": type(raised.value).__name__, "message": str(raised.value)}


FLOWS: dict[str, Callable[[Path], Mapping[str, object]]] = {
    "rath-074": last_reference_closes,
    "rath-080": streams,
    "rath-081": merged,
    "rath-083": forked_and_detached,
    "rath-084": compressing_with_calls,
}


@pytest.mark.parametrize("name", PROSE)
def test_a_case_in_words_comes_out_as_it_is_told(tmp_path: Path, name: str) -> None:
    assert FLOWS[name](tmp_path) == PROSE[name]


@pytest.mark.parametrize("area", sorted({one["area"] for one in LINES}))
def test_every_case_of_an_area_is_run_by_the_runner_or_here(tmp_path: Path, area: str) -> None:
    own = [one for one in LINES if one["area"] == area]
    file = tmp_path / "openrath.jsonl"
    file.write_bytes(b"\n".join(map(msgspec.json.encode, own)))
    report = run("openrath", file)
    by_hand = {one["id"] for one in own} & {*FLOWS}
    assert (report.failures, report.skipped) == ([], len(by_hand))
    assert report.passed + len(by_hand) == len(own)


def _silent() -> ModelReply:
    return ModelReply(text="", finish="stop")


EDGES: dict[str, tuple[list[ModelReply], list[str], list[str]]] = {
    "a tool that nobody has": (
        [asks(("nobody", "{}")), says("done")],
        ["user", "assistant", "tool_result", "assistant"],
        ["nobody"],
    ),
    "arguments that are no JSON": (
        [asks(("ok", '{"a": ')), says("done")],
        ["user", "assistant", "tool_result", "assistant"],
        ["invalid_tool_arguments"],
    ),
    "a tool that fails": (
        [asks(("fail", "{}")), says("done")],
        ["user", "assistant", "tool_result", "assistant"],
        ["tool_execution_exception"],
    ),
    "one good call among bad ones": (
        [asks(("fail", "{}"), ("ok", "{}"), ("nobody", "{}")), says("done")],
        ["user", "assistant", *["tool_result"] * 3, "assistant"],
        ["tool_execution_exception", "1", "nobody"],
    ),
    "nothing said": ([_silent()], ["user", "assistant"], []),
    "a model that never ends": (
        [asks(("ok", "{}"))] * 9,
        ["user", *["assistant", "tool_result"] * 2],
        ["1", "1"],
    ),
}


@pytest.mark.req("RATH-TST-04")
@pytest.mark.parametrize("name", EDGES)
def test_edges_of_the_loop(name: str) -> None:
    replies, rows, said = EDGES[name]
    tools = [gives("ok", 1), Does("fail", raising(ValueError("no")))]
    model = Scripted(*replies)
    out = run_session_loop(user(), agent(), model, tools, max_tool_rounds=2, **UNKEPT)
    out.wait()
    assert kinds(out) == rows
    found = results(out)
    assert len(found) == len(said)
    assert all(word in text for word, text in zip(said, found, strict=True)), found
    assert out.chunk_table[0] == UserChunk("hi")
    truncated = ("loop.truncated", True) in out.lineage.extras
    assert truncated is (name == "a model that never ends")
