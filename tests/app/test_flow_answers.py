"""What a loop answers to calls: texts of results, refusals that do not end it, calls together."""

import json
import threading
from collections.abc import Mapping
from typing import cast

import pytest
from flow_kit import UNKEPT, Does, Safe, Scripted, agent, asks, gives, raising, results, says, user

from holdfast.contract.errors import OperationFailed
from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.flow import FileEntries, FileEntry, Session, run_session_loop


def _answers(*calls: tuple[str, str], tools: tuple[FlowToolCall, ...] = ()) -> list[str]:
    """The results of one answer's calls; the loop came to its end afterwards."""
    out = run_session_loop(user(), agent(), Scripted(asks(*calls), says("on")), tools, **UNKEPT)
    assert json.loads(f'"{getattr(out.chunk_table[-1], "content", "")}"') == "on"
    return results(out)


def _failures(*calls: tuple[str, str], tools: tuple[FlowToolCall, ...] = ()) -> list[object]:
    return [json.loads(text) for text in _answers(*calls, tools=tools)]


class Pointed:
    """Nothing JSON knows."""

    def __str__(self) -> str:
        return "a point"


@pytest.mark.req("RATH-FTC-06")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (42, "42"),
        ("hé", '"hé"'),
        ([1, None], "[1, null]"),
        ((1, 2), "[1, 2]"),
        ({"words": 3}, '{"words": 3}'),
        (None, "null"),
        (True, '{"ok": true}'),
        (1.5, "1.5"),
        (Pointed(), '"a point"'),
        (FileEntries((FileEntry("a", "/w/a", is_dir=False),)), None),
    ],
)
def test_whatever_a_tool_returns_becomes_text(value: object, text: str | None) -> None:
    (told,) = _answers(("a", "{}"), tools=(gives("a", value),))
    assert told == text if text is not None else json.loads(told)["entries"][0]["name"] == "a"


ADD_ONE: Mapping[str, object] = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}


@pytest.mark.req("RATH-FTC-07", "RATH-TST-03")
def test_add_one_of_41_is_42() -> None:
    tool = Does("add_one", lambda _session, arguments: cast("int", arguments["x"]) + 1, ADD_ONE)
    assert _answers(("add_one", '{"x": 41}'), tools=(tool,)) == ["42"]


@pytest.mark.req("RATH-FTC-10")
def test_arguments_that_do_not_fit_the_schema_never_reach_the_tool() -> None:
    tool = Does("add_one", raising(AssertionError("it ran")), ADD_ONE)
    wrong = _failures(("add_one", '{"x": "many"}'), ("add_one", '{"y": 1}'), tools=(tool,))
    assert [cast("dict[str, object]", one)["error_kind"] for one in wrong] == ["invalid_args"] * 2


@pytest.mark.req("RATH-EDG-03", "RATH-EDG-09", "RATH-ARG-01", "RATH-ARG-03")
@pytest.mark.parametrize("raw", ["{", "[1]", '"x"', " ", "null", "{'a': 1}", '"{}"'])
@pytest.mark.parametrize("name", ["run_shell_command", "nope"])
def test_unreadable_arguments_are_told_before_a_wrong_name(name: str, raw: str) -> None:
    assert _failures((name, raw)) == [
        {
            "ok": False,
            "error_kind": "invalid_tool_arguments",
            "message": f"tool '{name}' returned non-JSON or unparseable arguments",
            "detail": raw,
        }
    ]


@pytest.mark.req("RATH-EDG-10", "RATH-EDG-03")
@pytest.mark.parametrize(("length", "shown"), [(2_000, 2_000), (2_001, 2_014)])
def test_of_unreadable_arguments_2000_characters_are_echoed(length: int, shown: int) -> None:
    (told,) = _failures(("a", "x" * length))
    detail = cast("dict[str, str]", told)["detail"]
    assert len(detail) == shown
    assert detail == ("x" * 2_000 + "...(truncated)")[:shown]


@pytest.mark.req("RATH-EDG-05")
def test_an_unknown_tool_is_told_without_detail() -> None:
    assert _failures(("nope", "{}")) == [
        {"ok": False, "error_kind": "unknown_tool", "message": "unknown tool 'nope'"}
    ]


@pytest.mark.req("RATH-ARG-02")
def test_no_arguments_at_all_are_an_empty_object() -> None:
    given: list[Mapping[str, object]] = []
    tool = Does("a", lambda _session, arguments: given.append(dict(arguments)))
    strict = Does("b", tool, {"type": "object", "properties": {}, "additionalProperties": False})
    assert _answers(("a", ""), ("b", ""), ("a", "{}"), tools=(tool, strict)) == ["null"] * 3
    assert given == [{}, {}, {}]


class _LongName(Exception):
    pass


_LongName.__name__ = "N" * 5_000


class Own(OperationFailed):
    """An error of this test that says more than its text."""


@pytest.mark.req("RATH-EDG-07", "RATH-EDG-09", "RATH-LOP-10")
def test_what_a_tool_raises_is_told_by_type_and_text_and_the_others_go_on() -> None:
    tools = (
        Does("boom", raising(ValueError("bad x"))),
        Does("key", raising(KeyError("k"))),
        Does("bare", raising(RuntimeError())),
        Does("long", raising(_LongName("x"))),
        Does("own", raising(Own("not here"))),
        gives("fine", 1),
    )
    *failed, fine = _failures(*((tool.name, "{}") for tool in tools), tools=tools)
    told = cast("list[dict[str, str]]", failed)
    assert {one["error_kind"] for one in told} == {"tool_execution_exception"}
    assert [one["message"] for one in told if len(one["message"]) < 100] == [
        "ValueError: bad x",
        "KeyError: 'k'",
        "RuntimeError: ",
        "Own: not here",
    ]
    assert [len(one["detail"]) for one in told] == [10, 8, 12, 4_000, 3]
    assert told[0] == {
        "ok": False,
        "error_kind": "tool_execution_exception",
        "message": "ValueError: bad x",
        "detail": "ValueError",
    }
    assert fine == 1


@pytest.mark.req("RATH-EDG-08")
@pytest.mark.parametrize("kind", [Does, Safe])
def test_what_a_key_raises_counts_as_raised_by_the_tool(kind: type[Does]) -> None:
    class Keyless(kind):
        def resource_key(self, arguments: Mapping[str, object]) -> tuple[str, ...]:
            raise LookupError("no key")

    tool = Keyless("a", raising(AssertionError("it ran")))
    told = cast("list[dict[str, str]]", _failures(("a", "{}"), ("a", "{}"), tools=(tool,)))
    assert [one["message"] for one in told] == ["LookupError: no key"] * 2


@pytest.mark.req("RATH-EDG-08")
@pytest.mark.parametrize("error", [KeyboardInterrupt("stop"), SystemExit(3)])
@pytest.mark.parametrize("kind", [Does, Safe])
def test_an_interrupt_in_a_tool_is_not_caught(kind: type[Does], error: BaseException) -> None:
    tool = kind("a", raising(error))
    model = Scripted(asks(("a", '{"n": 1}'), ("a", '{"n": 2}')), says("on"))
    out = run_session_loop(user(), agent(), model, [tool], **UNKEPT)
    with pytest.raises(type(error)):
        out.wait()
    assert results(out) == []
    # The loop in the background goes on serving others.
    assert run_session_loop(user(), agent(), Scripted(says("on")), **UNKEPT).wait().done


def _together(kind: type[Does], *numbers: int) -> bool:
    """Whether two calls with these numbers were in flight at once."""
    in_flight = threading.Semaphore(0)
    met: list[bool] = []

    def meet(_session: FlowSession, arguments: Mapping[str, object]) -> object:
        in_flight.release()
        if len(met) == 0 and not arguments.get("late"):
            # Whoever is alone gives up after a while; who is not is met at once.
            met.append(in_flight.acquire(timeout=10) and in_flight.acquire(timeout=0.3))
        return arguments["n"]

    calls = [
        ("meet", json.dumps({"n": number, "late": place > 0}))
        for place, number in enumerate(numbers)
    ]
    texts = _answers(*calls, tools=(kind("meet", meet),))
    assert texts == [str(number) for number in numbers]
    return met == [True]


class Distinct(Does):
    """Not declared safe, although every call touches something else."""

    def resource_key(self, arguments: Mapping[str, object]) -> tuple[str, ...]:
        return ("n", str(arguments["n"]))


@pytest.mark.req("RATH-LOP-09")
def test_calls_are_dispatched_one_after_the_other() -> None:
    assert not _together(Does, 1, 2)
    assert not _together(Distinct, 1, 2)


@pytest.mark.req("RATH-LOP-09")
def test_calls_that_are_all_safe_and_touch_different_things_overlap() -> None:
    barrier = threading.Barrier(3)

    def meet(_session: FlowSession, arguments: Mapping[str, object]) -> object:
        if arguments["n"] != 9:
            barrier.wait(10)
        return arguments["n"]

    calls = [("meet", f'{{"n": {number}}}') for number in (3, 1, 2)]
    refused = ("nope", "{}")
    texts = _answers(*calls, refused, tools=(Safe("meet", meet),))
    assert texts[:3] == ["3", "1", "2"]
    assert "unknown_tool" in texts[3]


@pytest.mark.req("RATH-LOP-09")
def test_equal_keys_are_never_in_flight_together() -> None:
    assert not _together(Safe, 1, 1)


@pytest.mark.req("RATH-LOP-09")
def test_one_call_that_is_not_safe_keeps_all_apart() -> None:
    order: list[object] = []

    def note(_session: FlowSession, arguments: Mapping[str, object]) -> object:
        order.append(arguments["n"])
        return None

    calls = [("safe" if number % 2 else "unsafe", f'{{"n": {number}}}') for number in range(6)]
    _answers(*calls, tools=(Safe("safe", note), Does("unsafe", note)))
    assert order == list(range(6))


def test_a_session_that_a_tool_forks_has_the_rows_so_far() -> None:
    forked: list[Session] = []

    def fork(session: FlowSession, _arguments: Mapping[str, object]) -> object:
        forked.append(cast("Session", session).fork())
        return None

    _answers(("fork", "{}"), tools=(Does("fork", fork),))
    assert len(forked[0].chunk_table) == 2
