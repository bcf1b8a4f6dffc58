"""What a session that is taken up again still knows: its to-do list, and the tools it found.

Read from its own journal: the arguments of the last `todo` that was settled, and the answers of
every `tool_search`. A list that cannot be read any more is told, and stays empty.
"""

import logging
from collections.abc import Callable, Iterable

import msgspec

from holdfast.app.session_ports import SessionPorts
from holdfast.contract.call import Prepared, ToolCall
from holdfast.contract.events import CallAsked, CallSettled, Event
from holdfast.contract.failure import Failure
from holdfast.contract.journal import EventQuery, Journal, JournalError
from holdfast.contract.todos import Todo
from holdfast.contract.wake_events import AgentEquipped

_log = logging.getLogger("holdfast")

Prepare = Callable[[ToolCall], Prepared | Failure]


class _Match(msgspec.Struct):
    id: str


class _Matches(msgspec.Struct):
    matches: list[_Match] = []


class _Answer(msgspec.Struct):
    """What is wanted of an envelope."""

    ok: bool = False
    result: msgspec.Raw = msgspec.Raw(b"null")


class _Arguments(msgspec.Struct):
    todos: list[Todo]


async def restore(
    journal: Journal, session_id: str, own: SessionPorts, names: Iterable[str], prepare: Prepare
) -> None:
    """Give the session back what it knew. ``names``: the tools it has."""
    wanted = {"todo", "tool_search"} & {*names}
    if not wanted:
        return
    try:
        await _restore(journal, session_id, own, wanted, prepare)
    except JournalError as problem:
        _log.warning("what session %s knew cannot be read: %s", session_id, problem)


async def _restore(
    journal: Journal, session_id: str, own: SessionPorts, wanted: set[str], prepare: Prepare
) -> None:
    last: str | None = None
    found: list[str] = []
    before: str | None = None
    while page := await journal.find(
        session_id, EventQuery(types=("call.settled",), before=before)
    ):
        for event in reversed(page):
            said = _settled(event, wanted)
            if said is None:
                continue
            if said.tool == "tool_search":
                found += reversed(_found(said))
            elif last is None:
                last = said.call_id
        if page[0].id == before:
            break  # the same again: its id is damaged
        before = page[0].id
    own.offered.found(reversed(found))
    await _offer_again(journal, session_id, own)
    if last is not None:
        own.todos.replace(await _todos(journal, session_id, last, prepare))


async def _offer_again(journal: Journal, session_id: str, own: SessionPorts) -> None:
    """What its agent was offered last, and what answers since then lead to."""
    query = EventQuery(types=("agent.equipped",), limit=1)
    for event in await journal.find(session_id, query):
        said = event.payload
        if isinstance(said, AgentEquipped):
            own.offered.found(one.name for one in said.tools)
        if own.managed is not None:
            since = EventQuery(types=("call.settled",), after=event.id)
            for settled in await journal.find(session_id, since):
                own.managed.hear(settled)


def _settled(event: Event, wanted: set[str]) -> CallSettled | None:
    said = event.payload
    if not isinstance(said, CallSettled) or said.tool not in wanted:
        return None
    try:
        worked = msgspec.json.decode(said.envelope, type=_Answer).ok
    except msgspec.MsgspecError:
        return None
    return said if worked else None


def _found(said: CallSettled) -> list[str]:
    try:
        answer = msgspec.json.decode(said.envelope, type=_Answer)
        return [one.id for one in msgspec.json.decode(answer.result, type=_Matches).matches]
    except msgspec.MsgspecError:
        return []


async def _todos(
    journal: Journal, session_id: str, call_id: str, prepare: Prepare
) -> tuple[Todo, ...]:
    asked = await _asked(journal, session_id, call_id)
    if asked is not None:
        call = ToolCall(
            id=call_id, tool=asked.tool, arguments=asked.arguments, session_id=session_id
        )
        prepared = prepare(call)
        if isinstance(prepared, Prepared):
            return tuple(msgspec.convert(prepared.arguments, _Arguments).todos)
    _log.warning("the to-do list of session %s cannot be read from its journal", session_id)
    return ()


async def _asked(journal: Journal, session_id: str, call_id: str) -> CallAsked | None:
    before: str | None = None
    while page := await journal.find(session_id, EventQuery(types=("call.asked",), before=before)):
        for event in reversed(page):
            said = event.payload
            if isinstance(said, CallAsked) and said.call_id == call_id:
                return said
        if page[0].id == before:
            break  # the same again: its id is damaged
        before = page[0].id
    return None
