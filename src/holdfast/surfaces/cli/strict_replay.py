"""`holdfast replay --strict`: would the same be written down now?"""

from argparse import Namespace
from collections.abc import Sequence

import anyio
import msgspec

from holdfast.app.configuration import Configuration, load_configuration
from holdfast.app.diverged import without_secrets
from holdfast.app.replaying import Now, replay_strictly
from holdfast.app.store import known_key
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.app.tool_files import load_tools
from holdfast.contract.events import ApprovalAsked, CallIntended, CallSettled, Event, SessionCreated
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject, plain
from holdfast.contract.tool import Tool
from holdfast.envelope.redact import Redactor
from holdfast.record.codec import Chain
from holdfast.record.divergence import Divergence
from holdfast.runtime.replaying import Replayed
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.diverged import show_divergence
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.opening import unlike
from holdfast.surfaces.cli.parsing import overrides_in, workspace_in
from holdfast.surfaces.cli.screen import Screen

_DIVERGED = 1


def held_against_now(events: Sequence[Event], arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    configuration = _configuration(events, arguments, screen)
    settings = configuration.settings
    around = surroundings_of_this_process(settings)
    now = Now(
        tools=load_tools(unlike([*settings.tools.files, *arguments.files])),
        configuration=configuration,
        surroundings=around,
        chain=Chain(known_key(around.state_home)),
    )
    found = anyio.run(replay_strictly, events, now)
    divergence = without_secrets(found.divergence, Redactor(around.secrets))
    _remark(found, configuration, screen)
    missing = _missing(events, now.tools)
    if missing and divergence is not None:
        names = ", ".join(printable(name) for name in missing)
        screen.remark(
            f"the recording has calls of tools that are not among those of now: {names}; if they"
            " came from a file, name it with --from FILE.py"
        )
    if arguments.json:
        screen.document(_report(events, found, divergence))
    else:
        _show(events, found, divergence, screen)
    return 0 if divergence is None else _DIVERGED


def _configuration(events: Sequence[Event], arguments: Namespace, screen: Screen) -> Configuration:
    """As it is now where the session ran, or where somebody says."""
    created = events[0].payload if events else None
    ran = created.workspace if isinstance(created, SessionCreated) else None
    if arguments.workspace is None:
        arguments.workspace = ran
    place = None if arguments.workspace is None else workspace_in(arguments)
    loaded = load_configuration(place, overrides=overrides_in(arguments))
    for notice in loaded.notices:
        screen.remark(f"note: {notice}")
    return loaded


def _remark(found: Replayed, configuration: Configuration, screen: Screen) -> None:
    if found.left_out:
        screen.remark(
            f"left out: {counted(len(found.left_out), 'call')} with arguments too long to be kept"
        )
    if configuration.settings.watchdog.commands:
        screen.remark("the programs of the watchdog were not asked: a replay starts no process")


class _Ended(msgspec.Struct):
    """What an envelope says of how a call ended."""

    kind: str | None = None


def _missing(events: Sequence[Event], tools: Sequence[Tool]) -> list[str]:
    """The tools that were there then and are not now."""
    known = {tool.name for tool in tools}
    there: dict[str, None] = {}
    for event in events:
        match event.payload:
            case CallIntended(tool=name) | ApprovalAsked(tool=name):
                there[name] = None
            case CallSettled(tool=name, envelope=envelope):
                ended = msgspec.json.decode(envelope, type=_Ended)
                if ended.kind != FailureKind.TOOL_NOT_FOUND:
                    there[name] = None
            case _:
                pass
    return [name for name in there if name not in known]


def _report(events: Sequence[Event], found: Replayed, divergence: Divergence | None) -> JsonObject:
    return {
        "session": events[0].session_id,
        "events": len(events),
        "calls": found.calls,
        "left_out": list(found.left_out),
        "divergence": None if divergence is None else plain(divergence),
    }


def _show(
    events: Sequence[Event], found: Replayed, divergence: Divergence | None, screen: Screen
) -> None:
    if divergence is None:
        looked_at = f"events: {len(events)}, calls: {found.calls}"
        screen.raw(f"The same would be written down now ({looked_at}).")
        return
    show_divergence(divergence, f"Event {divergence.sequence} would be another one", screen)
