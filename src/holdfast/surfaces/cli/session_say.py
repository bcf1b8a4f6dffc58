"""`holdfast sessions send`, `event`, `interrupt`, `commands`, `terminate`: from another window.

What is said is written down, and whoever runs the session is told to look. Commands are ended by
the process that runs them: where nobody answers for a session there are none.
"""

from argparse import Namespace
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from holdfast.app import ingress
from holdfast.app.control.client import Owner, Unreachable, owner_of, poke
from holdfast.app.session_store import runner_of
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.app.user_events import take_user_event
from holdfast.contract.events import Event
from holdfast.contract.json_value import JsonObject, decode_json
from holdfast.contract.shell import LiveCommand
from holdfast.envelope.redact import Redactor
from holdfast.runtime.clock import SystemClock
from holdfast.surfaces.cli.last_session import session_meant
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.session_list import cut
from holdfast.surfaces.cli.stores import settings_in, store_in

_T = TypeVar("_T")

_FAILED = 1
_COLUMN = 60
_HEADINGS = ("COMMAND", "STATE", "TEXT", "PRINTS")
_AN_EVENT = """write: holdfast sessions event ID '{"type": "user.message", "message": "go on"}'"""
_LATER = "It is written down: whoever runs the session finds it there, now or when it is run next."


async def send(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    name, message = arguments.words
    if not message.strip():
        raise UsageError("there is nothing to send; write: holdfast sessions send ID 'text'")
    around = surroundings_of_this_process(settings_in(arguments))
    async with store_in(arguments) as store:
        session_id = await session_meant(store.archive, name, arguments)
        redactor = Redactor(around.secrets)
        event = await ingress.send_message(store.journal, session_id, message, redactor)
        heard = await poke(session_id, store.journal, around)
    now = "The agent takes it into account in its next step."
    return _said(event, screen, f"Sent. {now if heard else _LATER}", arguments, heard=heard)


async def event(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    name, text = arguments.words
    sent = _object_in(text)
    around = surroundings_of_this_process(settings_in(arguments))
    async with store_in(arguments) as store:
        session_id = await session_meant(store.archive, name, arguments)
        read = await take_user_event(store.journal, session_id, sent, Redactor(around.secrets))
        heard = await poke(session_id, store.journal, around)
    now = "The agent takes it into account in its next step." if heard else _LATER
    repairs = [f"{one.was} was taken for {one.field}" for one in read.repairs]
    if arguments.json:
        screen.document({"session_id": session_id, "heard": heard, "repairs": repairs, "next": now})
        return 0
    for one in repairs:
        screen.remark(one)
    screen.raw(f"Taken. {now}")
    return 0


def _object_in(text: str) -> JsonObject:
    try:
        sent = decode_json(text)
    except ValueError as problem:
        raise UsageError(f"the event is no JSON ({problem}); {_AN_EVENT}") from None
    if not isinstance(sent, dict):
        raise UsageError(f"the event is no JSON object; {_AN_EVENT}")
    return sent


async def interrupt(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    if arguments.call:
        if arguments.note:
            raise UsageError("--call stops the calls that run and says nothing; leave --note out")
        return await _interrupt_call(arguments, screen)
    around = surroundings_of_this_process(settings_in(arguments))
    async with store_in(arguments) as store:
        session_id = await session_meant(store.archive, arguments.words[0], arguments)
        redactor = Redactor(around.secrets)
        event = await ingress.interrupt(store.journal, session_id, redactor, arguments.note)
        heard = await poke(session_id, store.journal, around)
    now = "It goes on with your note." if arguments.note else "It stops now."
    return _said(event, screen, f"Interrupted. {now if heard else _LATER}", arguments, heard=heard)


async def commands(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""

    async def shown(owner: Owner, session_id: str) -> list[LiveCommand]:
        found = await owner.commands(session_id)
        return [await owner.tail(session_id, one.id) for one in found]

    session_id, found = await _asked(arguments, shown)
    if arguments.json:
        told = [msgspec.to_builtins(one) for one in found]
        screen.document({"session_id": session_id, "commands": told})
    elif found:
        screen.look.table(_HEADINGS, [_row(one) for one in found])
        screen.remark(f"end one with: holdfast sessions terminate {session_id} COMMAND")
    else:
        screen.look.text("No command runs.")
    return 0


async def terminate(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    command: str = arguments.words[1]
    session_id, did = await _asked(
        arguments, lambda owner, session_id: owner.terminate(session_id, command)
    )
    told = f"{command} is being ended" if did else f"no command {command} runs there (any more)"
    return _did(screen, told, arguments, session_id, did=did)


async def _interrupt_call(arguments: Namespace, screen: Screen) -> int:
    session_id, did = await _asked(
        arguments, lambda owner, session_id: owner.interrupt_call(session_id)
    )
    told = "The calls that run are being stopped; the agent goes on" if did else "no call runs"
    return _did(screen, told, arguments, session_id, did=did)


async def _asked(
    arguments: Namespace, ask: Callable[[Owner, str], Awaitable[_T]]
) -> tuple[str, _T]:
    """What the process that runs a session says; Unreachable, RefusedRequest."""
    around = surroundings_of_this_process(settings_in(arguments))
    async with store_in(arguments) as store:
        session_id = await session_meant(store.archive, arguments.words[0], arguments)
        lease = (await store.journal.session(session_id)).lease
        if lease is None or runner_of(lease, SystemClock()) == "gone":
            raise Unreachable(f"nobody runs session {session_id} now")
        async with owner_of(session_id, lease.holder, around) as owner:
            return session_id, await ask(owner, session_id)


def _said(event: Event, screen: Screen, told: str, arguments: Namespace, *, heard: bool) -> int:
    if arguments.json:
        where = {"session_id": event.session_id, "event_id": event.id, "sequence": event.sequence}
        screen.document({**where, "heard": heard, "next": told})
    else:
        screen.raw(told)
    return 0


def _did(screen: Screen, told: str, arguments: Namespace, session_id: str, *, did: bool) -> int:
    if arguments.json:
        screen.document({"session_id": session_id, "did": did, "next": told})
    elif did:
        screen.raw(f"{printable(told)}.")
    else:
        screen.remark(told)
    return 0 if did else _FAILED


def _row(one: LiveCommand) -> tuple[str, ...]:
    printed = (one.stdout_tail.strip() or one.stderr_tail.strip()).splitlines()
    last = cut(printed[-1], _COLUMN) if printed else ""
    return one.id, one.state, cut(one.command, _COLUMN), last
