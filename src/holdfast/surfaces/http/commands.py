"""The commands of a session that run now: what they print, live, and how to end one."""

from collections.abc import AsyncGenerator

import msgspec
from anyio import sleep
from starlette.responses import Response

from holdfast.app.control.client import NoSocket, RefusedRequest, Unreachable, owner_of
from holdfast.contract.shell import LiveCommand
from holdfast.surfaces.http.house import House
from holdfast.surfaces.http.live.frames import MEDIA, streamed, told
from holdfast.surfaces.http.problems import Problem
from holdfast.surfaces.http.routes import Plain, Route
from holdfast.surfaces.http.sessions import Did

LOOK_SECONDS = 0.2
_QUIET_LOOKS = 75
"""After so many looks without news a stream says that it is still there."""


class Commands(msgspec.Struct, frozen=True, kw_only=True):
    """Those that run now, and those that ended moments ago."""

    commands: tuple[LiveCommand, ...]
    reachable: bool
    """Whether whoever runs the session answers; otherwise nothing is known of its commands."""


async def list_commands(asked: Plain) -> Commands:
    """The commands of a session that run now, without what they printed."""
    house, name = asked.house, asked.names["id"]
    if name == house.opened.workbench.session_id:
        return Commands(commands=house.opened.workbench.commands.all(), reachable=True)
    lease = (await house.journal.session(name)).lease
    if lease is None:
        return Commands(commands=(), reachable=False)
    try:
        async with owner_of(name, lease.holder, house.around) as owner:
            return Commands(commands=await owner.commands(name), reachable=True)
    except (Unreachable, RefusedRequest):
        return Commands(commands=(), reachable=False)


async def show_command(asked: Plain) -> LiveCommand:
    """One command, with what it printed last."""
    return await _tail(asked.house, asked.names["id"], asked.names["command"])


async def terminate_command(asked: Plain) -> Did:
    """End a command, and all that it started."""
    house, name, command = asked.house, asked.names["id"], asked.names["command"]
    if name == house.opened.workbench.session_id:
        return Did(did=house.opened.workbench.commands.terminate(command))
    lease = (await house.journal.session(name)).lease
    if lease is None:
        return Did(did=False)
    try:
        async with owner_of(name, lease.holder, house.around) as owner:
            return Did(did=await owner.terminate(name, command))
    except NoSocket:
        return Did(did=False)
    except (Unreachable, RefusedRequest) as problem:
        raise Problem(409, f"whoever runs it does not answer: {problem}") from None


async def stream_command(asked: Plain) -> Response:
    """What a command prints, as it prints it, until it is over."""
    house, name, command = asked.house, asked.names["id"], asked.names["command"]
    first = await _tail(house, name, command)
    return streamed(_tails(house, name, first))


async def _tails(house: House, name: str, first: LiveCommand) -> AsyncGenerator[bytes]:
    shown, quiet = first, 0
    yield told("tail", first)
    while shown.state == "running" and not house.leaving.aborted:
        await sleep(LOOK_SECONDS)
        try:
            found = await _tail(house, name, first.id)
        except Problem:
            break
        quiet = 0 if found != shown else quiet + 1
        if found != shown:
            yield told("tail", found)
        elif quiet % _QUIET_LOOKS == 0:
            yield b": still here\n\n"
        shown = found
    yield told("over", shown)


async def _tail(house: House, name: str, command: str) -> LiveCommand:
    """One command with what it printed last; Problem where it is over or unknown."""
    unknown = f"session {name} has no command {command} that runs, or did moments ago"
    if name == house.opened.workbench.session_id:
        known = {one.id: one for one in house.opened.workbench.commands.all()}
        if command not in known:
            raise Problem(404, unknown)
        return known[command]
    lease = (await house.journal.session(name)).lease
    if lease is None:
        raise Problem(404, unknown)
    try:
        async with owner_of(name, lease.holder, house.around) as owner:
            return await owner.tail(name, command)
    except (Unreachable, RefusedRequest):
        raise Problem(404, unknown) from None


ROUTES = (
    Route(
        method="GET",
        path="/sessions/{id}/commands",
        name="list_commands",
        says="The commands of a session that run now.",
        answer=list_commands,
        gives=Commands,
        fails=(404,),
    ),
    Route(
        method="GET",
        path="/sessions/{id}/commands/{command}",
        name="show_command",
        says="One command, with what it printed last.",
        answer=show_command,
        gives=LiveCommand,
        fails=(404,),
    ),
    Route(
        method="GET",
        path="/sessions/{id}/commands/{command}/stream",
        name="stream_command",
        says="What a command prints, as it prints it, until it is over.",
        answer=stream_command,
        media=MEDIA,
        fails=(404,),
    ),
    Route(
        method="POST",
        path="/sessions/{id}/commands/{command}/terminate",
        name="terminate_command",
        says="End a command, and all that it started.",
        answer=terminate_command,
        gives=Did,
        status=202,
        fails=(404, 409),
    ),
)
