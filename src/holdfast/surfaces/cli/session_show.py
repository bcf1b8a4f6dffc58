"""`holdfast sessions show`: where a session stands, and its conversation."""

from argparse import Namespace
from collections.abc import AsyncIterator, Iterator

import msgspec

from holdfast.app import session_store
from holdfast.app.holders import is_gone
from holdfast.contract.archive import Message, Part
from holdfast.contract.journal import Lease, Session
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.session_state import is_left
from holdfast.contract.truncate import cut_text
from holdfast.record.export import moment_text
from holdfast.record.store import Store
from holdfast.runtime.clock import SystemClock
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.call_cards import how_ended
from holdfast.surfaces.cli.call_states import has_ended, state_shown
from holdfast.surfaces.cli.last_session import session_meant
from holdfast.surfaces.cli.layout import laid_out
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.screen import Screen, one_line
from holdfast.surfaces.cli.session_list import cut, shown_time, status_of, summary
from holdfast.surfaces.cli.stores import store_in
from holdfast.surfaces.cli.taking_up import left_words

_PAGE = 200
_FOLDED_LINES = 8
_RESULT_LINES = 4
_LAID_OUT_WIDTH = 90
_LINE_CHARACTERS = 200
_CARD_CHARACTERS = 80


async def show(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    async with store_in(arguments) as store:
        session_id = await session_meant(store.archive, arguments.words[0], arguments)
        session = await store.journal.session(session_id)
        if arguments.json:
            messages = [_plain(one) async for one in _messages(store, session_id)]
            document: JsonObject = {**summary(session), "messages": messages}
            screen.document(document)
            return 0
        screen.look.heading(printable(session.id))
        screen.look.fields(_head(session))
        async for message in _messages(store, session_id):
            screen.look.text("")
            screen.look.text(f"{message.role}, {shown_time(message.created_at)}")
            for part in message.parts:
                for line in _part_lines(part, full=arguments.full):
                    screen.look.text(f"  {line}")
    return 0


async def _messages(store: Store, session_id: str) -> AsyncIterator[Message]:
    after = -1
    while page := await store.archive.messages(session_id, after=after, limit=_PAGE):
        for message in page:
            yield message
        after = page[-1].number


def _head(session: Session) -> dict[str, str]:
    state = session.state
    fields = {
        "title": cut(state.title or "-", _CARD_CHARACTERS),
        "agent": state.agent_id or "-",
        "profile": state.profile or "-",
        "workspace": state.workspace or "-",
        "parent": state.parent_id or "",
        "status": status_of(session) + (" (closed)" if state.status == "terminated" else ""),
        "begun": f"{shown_time(session.created_at)} UTC",
        "last active": f"{shown_time(session.updated_at)} UTC",
        "events": f"{session.sequence:,}",
        "turns": f"{state.turns:,}",
        "usage": ", ".join(f"{name} {count:,}" for name, count in state.usage.items()) or "-",
        "run by": _runner(session.lease),
        "left": left_words([session])
        if is_left(state, session_store.runner_of(session.lease, SystemClock()))
        else "",
        "open calls": ", ".join(f"{name} ({one.stage})" for name, one in state.calls.items()),
        "open questions": "; ".join(_questions(session)),
    }
    return {name: printable(value) for name, value in fields.items() if value}


def _runner(lease: Lease | None) -> str:
    if lease is None:
        return "nobody"
    if session_store.runner_of(lease, SystemClock()) == "somebody":
        return lease.holder
    return f"{lease.holder} ({'gone' if is_gone(lease.holder) else 'late'})"


def _questions(session: Session) -> Iterator[str]:
    """What somebody has to answer before it goes on."""
    state = session.state
    told = {*state.calls, *(call.approval_id for call in state.calls.values())}
    for call_id, call in state.calls.items():
        if call.stage == "waiting":
            yield f"may {call_id} run? ({call.approval_id})"
        elif call.stage == "inquiring":
            yield f"what to reply to {call_id}?"
    asked, custom = state.confirmation, state.custom
    if asked is not None and asked.answered_by is None and asked.id not in told:
        yield f"may {asked.tool_name} run? ({asked.id})"
    if custom is not None and custom.answered_by is None and custom.id not in told:
        yield f"what did {custom.name} give? ({custom.id})"


def _part_lines(part: Part, *, full: bool) -> Iterator[str]:
    if part.tool_call_id is not None:
        yield from _call_lines(part, full=full)
        return
    text = part.data.get("text")
    prefix = "" if part.type == "text" else f"[{part.type}] "
    lines = str(text if isinstance(text, str) else part.text).splitlines()
    for line in lines if full else _folded(lines, _FOLDED_LINES):
        yield prefix + printable(line)


def _call_lines(part: Part, *, full: bool) -> Iterator[str]:
    """What was called with what, how it ended, how long that took; below it what it brought."""
    sent = part.data.get("input", part.data.get("rawInput"))
    arguments = "" if sent is None else _flat(sent)
    why = part.data.get("errorText")
    ended = f": {one_line(str(why))}" if why else ""
    if not full:
        arguments, ended = cut(arguments, _CARD_CHARACTERS), cut(ended, _LINE_CHARACTERS)
    card = f"> {part.type.removeprefix('tool-')} {arguments}"
    output = part.data.get("output")
    took = f", {_seconds(part):.1f} s" if has_ended(part.tool_state) else ""
    yield printable(f"{card.rstrip()}  [{_how_it_went(part)}{took}]{ended}")
    if isinstance(output, dict) and "result" in output:
        yield from (f"  {printable(line)}" for line in _result_lines(output["result"], full=full))


def _how_it_went(part: Part) -> str:
    """How far it came; a command that failed has failed, although its call has not."""
    output = part.data.get("output")
    if isinstance(output, dict) and "result" in output:
        ended, tone = how_ended(output["result"])
        if tone == "bad":
            return ended
    return state_shown(part.tool_state)


def _seconds(part: Part) -> float:
    """How long it took as it measured itself, which may be less than since it was asked for."""
    passed = (part.updated_at - part.created_at).total_seconds()
    output = part.data.get("output")
    metadata = output.get("metadata") if isinstance(output, dict) else None
    measured = metadata.get("duration_ms") if isinstance(metadata, dict) else None
    return min(passed, measured / 1000) if isinstance(measured, int) else passed


def _result_lines(result: JsonValue, *, full: bool) -> list[str]:
    """A text by its lines; anything else is JSON, laid out for reading where all is shown."""
    if isinstance(result, str) and result:
        lines = result.splitlines()
    else:
        lines = laid_out(result, _LAID_OUT_WIDTH).splitlines() if full else [_flat(result)]
    return lines if full else list(_folded(lines, _RESULT_LINES))


def _flat(value: JsonValue) -> str:
    return msgspec.json.encode(value).decode()


def _folded(lines: list[str], most: int) -> Iterator[str]:
    """The first lines, each bounded, and how many there are besides."""
    for line in lines[:most]:
        yield cut_text(line, _LINE_CHARACTERS)
    if len(lines) > most:
        yield f"… {counted(len(lines) - most, 'more line')}; see all with --full"


def _plain(message: Message) -> JsonValue:
    parts: list[JsonValue] = [
        {
            "id": part.id,
            "index": part.number,
            "type": part.type,
            "tool_call_id": part.tool_call_id,
            "tool_state": part.tool_state,
            "created_at": moment_text(part.created_at),
            "updated_at": moment_text(part.updated_at),
            "data": part.data,
        }
        for part in message.parts
    ]
    return {
        "id": message.id,
        "index": message.number,
        "role": message.role,
        "created_at": moment_text(message.created_at),
        "updated_at": moment_text(message.updated_at),
        "parts": parts,
    }
