"""The openrath suite's loops: turns of a model, tools told in words, budgets and rounds.

Every key of `expect` is compared; a case that expects what this file does not know is not for this
version.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

from holdfast.app.flow_loop import run_session_loop
from holdfast.app.flow_options import LoopOptions
from holdfast.app.settings import Settings, StoreSettings
from holdfast.contract.chunks import AssistantChunk, ToolResultChunk
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.transcript import TokenUsage
from holdfast.runtime.flow_session import Session
from holdfast.testing.conformance.case import Case, NotForUs, differs, part
from holdfast.testing.conformance.openrath_sandbox import FORMS
from holdfast.testing.conformance.openrath_words import (
    Meeting,
    Seen,
    ToldModel,
    ToldTool,
    kinds,
    replies,
    user_session,
)

_COMMENTS = frozenset({"note", "why"})
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1}


class Ran(NamedTuple):
    """What came of a loop."""

    user: Session
    out: Session
    model: ToldModel
    seen: Seen
    totals: list[JsonValue]
    """What the callback of a budget was told."""
    raised: Exception | None


def is_loop(case: Case) -> bool:
    """Whether a case tells what a model answers."""
    return bool({"turns", "round", "usage_per_completion"} & part(case, "given").keys())


def check_loop(case: Case) -> Iterator[str]:
    """Run the loop of a case, and compare."""
    given, expect = part(case, "given"), part(case, "expect")
    if not is_loop(case) or given.get("turns") == [] or not all(map(_is_known, expect)):
        raise NotForUs
    ran = _ran(given)
    try:
        for key, wanted in expect.items():
            if key not in _COMMENTS:
                yield from _compared(key, wanted, ran)
        if ran.raised is not None and not {"raises", "message", "loop_aborted"} & expect.keys():
            yield f"raised {ran.raised!r}"
    finally:
        ran.out.close()
        ran.user.close()


def _ran(given: JsonObject) -> Ran:
    seen, totals = Seen(), cast("list[JsonValue]", [])
    tools = [ToldTool(name, told, seen) for name, told in _object(given, "tools").items()]
    if "round" in given:
        turns, meeting = _round(str(given["round"]), seen)
    else:
        turns, meeting = _turns(given), []
    model = ToldModel(list(replies(turns)))
    options: LoopOptions = {"settings": Settings(store=StoreSettings(kind="none"))}
    rounds, budget = given.get("max_tool_rounds"), given.get("budget_total_tokens")
    if isinstance(rounds, int):
        options["max_tool_rounds"] = rounds
    if isinstance(budget, int):
        options["budget_total_tokens"] = budget
        options["on_budget_exceeded"] = _told_to(totals, raises="raise" in json.dumps(given))
    user = user_session(given)
    agent = Session.from_agent_prompt(str(given.get("agent", "be brief")))
    out = run_session_loop(user, agent, model, [*tools, *meeting], **options)
    raised = None
    try:
        out.wait()
    except Exception as problem:  # noqa: BLE001 - whatever is raised is what is compared
        raised = problem
    return Ran(user, out, model, seen, totals, raised)


def _object(given: JsonObject, key: str) -> JsonObject:
    value = given.get(key, {})
    return value if isinstance(value, dict) else {}


def _turns(given: JsonObject) -> list[JsonValue]:
    """Those of the case; of bare usages, completions that ask to go on until the last."""
    turns = given.get("turns")
    costs = given.get("usage_per_completion")
    if not isinstance(costs, list):
        return turns if isinstance(turns, list) else []
    if not isinstance(turns, list):
        turns = [{"content": "more", "finish_reason": "tool_calls"} for _ in costs[1:]]
        turns.append({"content": "done"})
    return [
        {**cast("JsonObject", turn), "usage": cost} for turn, cost in zip(turns, costs, strict=True)
    ]


def _told_to(totals: list[JsonValue], *, raises: bool) -> Callable[[Session, TokenUsage], None]:
    def told(_out: Session, spent: TokenUsage) -> None:
        totals.append(spent.total_tokens)
        if raises:
            raise RuntimeError("over budget")

    return told


def _round(words: str, seen: Seen) -> tuple[list[JsonValue], list[Meeting]]:
    """One answer with several calls, as the words say."""
    told = words.lower()
    count = next((number for word, number in _NUMBERS.items() if word in told), None)
    if count is None and (found := re.search(r"\d+", told)):
        count = int(found[0])
    if count is None or "call" not in told:
        raise NotForUs
    unsafe = re.search(r"not (declared )?parallel|unsafe|non-parallel|sequential", told)
    safe = not unsafe and re.search(r"parallel|safe", told) is not None
    same = re.search(r"\b(same|equal|one|shared)\b[^,;]*\bkey", told) is not None
    calls: list[JsonValue] = [[f"c{n}", "meet", f'{{"n": {n}}}'] for n in range(count)]
    tool = Meeting(seen, count, safe=safe, same_key=same)
    return [{"calls": calls}, {"content": "done"}], [tool]


def _is_known(key: str) -> bool:
    return key in _COMPARED or key in _COMMENTS or _numbered(key) is not None


def _compared(key: str, wanted: JsonValue, ran: Ran) -> Iterator[str]:
    numbered = _numbered(key)
    if numbered is not None:
        yield from numbered(key, wanted, ran)
        return
    yield from _COMPARED[key](key, wanted, ran)


def _numbered(key: str) -> "Callable[[str, JsonValue, Ran], Iterator[str]] | None":
    if re.fullmatch(r"tool_result_\d+", key):
        return _one_result
    word = re.fullmatch(r"([a-z]+)_request_(roles|kinds)", key)
    return _roles if word is not None and word[1] in _ORDINALS else None


def _results(ran: Ran) -> list[JsonValue]:
    return [_read(row.content) for row in ran.out.chunk_table if isinstance(row, ToolResultChunk)]


def _read(content: str) -> JsonValue:
    try:
        return cast("JsonValue", json.loads(content))
    except ValueError:
        return content


def _all_results(key: str, wanted: JsonValue, ran: Ran) -> Iterator[str]:
    yield from differs(key, _results(ran), wanted)


def _texts(key: str, wanted: JsonValue, ran: Ran) -> Iterator[str]:
    found: list[JsonValue] = [
        row.content for row in ran.out.chunk_table if isinstance(row, ToolResultChunk)
    ]
    yield from differs(key, found, wanted)


def _one_result(key: str, wanted: JsonValue, ran: Ran) -> Iterator[str]:
    """As much of one result as the case speaks of."""
    results, place = _results(ran), int(key.rpartition("_")[2])
    found = results[place] if place < len(results) else None
    if not isinstance(wanted, dict) or not isinstance(found, dict):
        yield from differs(key, found, wanted)
        return
    for name, value in wanted.items():
        form = next((one for one in sorted(FORMS, key=len, reverse=True) if name.endswith(one)), "")
        if not form or name in found:
            yield from differs(f"{key}.{name}", found.get(name), value)
        elif not FORMS[form](found.get(name.removesuffix(form)), value):
            yield f"{key}.{name}: {value!r} does not fit {found!r}"


def _roles(key: str, wanted: JsonValue, ran: Ran) -> Iterator[str]:
    place = _ORDINALS[key.partition("_")[0]]
    requests = ran.model.requests
    if place >= len(requests) or not requests:
        yield f"{key}: there were only {len(requests)} requests"
        return
    rows = [str(row.__struct_config__.tag) for row in requests[place].rows]
    names = {"tool_result": "tool"} if key.endswith("roles") else {}
    found: list[JsonValue] = [names.get(row, row) for row in rows]
    yield from differs(key, found, wanted)


def _said(key: str, wanted: JsonValue, ran: Ran) -> Iterator[str]:
    rows = [row for row in ran.out.chunk_table if isinstance(row, AssistantChunk)]
    found: list[JsonValue] = [row.content for row in rows]
    yield from differs(key, found, wanted)


def _tool_session(key: str, wanted: JsonValue, ran: Ran) -> Iterator[str]:
    session = ran.seen.sessions[-1] if ran.seen.sessions else None
    names = {id(ran.out): "output", id(ran.user): "user"}
    found = names.get(id(session), "none")
    if found not in str(wanted).lower():
        yield f"{key}: expected {wanted!r}, got the {found} session"


def _peak(key: str, wanted: JsonValue, ran: Ran) -> Iterator[str]:
    """A number, or several told in words of which each is right."""
    allowed = [int(number) for number in re.findall(r"\b\d+\b", str(wanted))]
    if ran.seen.peak not in allowed:
        yield f"{key}: expected {wanted!r}, got {ran.seen.peak}"


def _order(key: str, wanted: JsonValue, ran: Ran) -> Iterator[str]:
    rows = ran.out.chunk_table
    asked = [
        call.id for row in rows if isinstance(row, AssistantChunk) for call in row.tool_calls or ()
    ]
    answered = [row.tool_call_id for row in rows if isinstance(row, ToolResultChunk)]
    if isinstance(wanted, list):
        yield from differs(key, answered, wanted)
    elif answered != asked:
        yield f"{key}: asked {asked}, answered {answered}"


def _raised(key: str, wanted: JsonValue, ran: Ran) -> Iterator[str]:
    if wanted not in [parent.__name__ for parent in type(ran.raised).__mro__]:
        yield f"{key}: expected {wanted!r}, got {ran.raised!r}"


def _extras(key: str, wanted: JsonValue, ran: Ran) -> Iterator[str]:
    extras = ran.out.lineage.extras
    pairs = [list(pair) for pair in extras]
    yield from differs(key, dict(extras) if isinstance(wanted, dict) else pairs, wanted)


def _sandbox(key: str, wanted: JsonValue, ran: Ran) -> Iterator[str]:
    """Whether a session has an open handle: null and false say no, anything else yes."""
    session = ran.user if key.startswith("user") else ran.out
    has = session.sandbox is not None and not session.sandbox.closed
    words = str(wanted).lower()
    expected = wanted not in (None, False) and not words.startswith(("no", "null", "closed"))
    if has is not expected:
        yield f"{key}: expected {wanted!r}, and the handle is {'open' if has else 'absent'}"


def _plain(find: Callable[[Ran], object]) -> Callable[[str, JsonValue, Ran], Iterator[str]]:
    return lambda key, wanted, ran: differs(key, find(ran), wanted)


def _truncated(ran: Ran) -> bool:
    return ("loop.truncated", True) in ran.out.lineage.extras


def _total(ran: Ran) -> int:
    return ran.out.cumulative_usage.total_tokens


_COMPARED: dict[str, Callable[[str, JsonValue, Ran], Iterator[str]]] = {
    "tool_results": _all_results,
    "tool_result_texts": _texts,
    "kinds": _plain(lambda ran: kinds(ran.out)),
    "out_kinds": _plain(lambda ran: kinds(ran.out)),
    "last_kind": _plain(lambda ran: kinds(ran.out)[-1]),
    "user_session_kinds": _plain(lambda ran: kinds(ran.user)),
    "assistant_texts": _said,
    "completions": _plain(lambda ran: len(ran.model.requests)),
    "requests": _plain(lambda ran: len(ran.model.requests)),
    "rounds": _plain(lambda ran: len(ran.model.requests)),
    "tool_session": _tool_session,
    "rows_visible_in_tool": _plain(lambda ran: ran.seen.kinds[-1] if ran.seen.kinds else None),
    "peak_in_flight": _peak,
    "result_order": _order,
    "callback_totals": _plain(lambda ran: ran.totals),
    "callback_calls": _plain(lambda ran: len(ran.totals)),
    "final_total": _plain(_total),
    "loop_aborted": _plain(lambda ran: ran.raised is not None),
    "raises": _raised,
    "message": _plain(lambda ran: None if ran.raised is None else str(ran.raised)),
    "truncated": _plain(_truncated),
    "loop_truncated": _plain(_truncated),
    "lineage_extras": _extras,
    "extras": _extras,
    "lineage_kind": _plain(lambda ran: ran.out.lineage.kind),
    "user_sandbox": _sandbox,
    "user_handle": _sandbox,
    "out_sandbox": _sandbox,
    "out_handle": _sandbox,
    "output_sandbox": _sandbox,
    "output_handle": _sandbox,
}
