"""`holdfast replay --run`: does the run of an agent come out again as it was recorded?"""

from argparse import Namespace
from collections.abc import Sequence

import anyio

from holdfast.app.diverged import without_secrets
from holdfast.app.run_replaying import RunReplayed, replay_run
from holdfast.app.settings import Settings
from holdfast.app.store import known_key
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.events import Event
from holdfast.contract.json_value import JsonObject, plain
from holdfast.envelope.redact import Redactor
from holdfast.record.codec import Chain
from holdfast.record.divergence import Divergence
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.diverged import show_divergence
from holdfast.surfaces.cli.screen import Screen

_DIVERGED = 1


def run_once_more(
    events: Sequence[Event], settings: Settings, arguments: Namespace, screen: Screen
) -> int:
    """Answer; returns the exit status. JournalError for what cannot be run again."""
    around = surroundings_of_this_process(settings)
    found = anyio.run(replay_run, events, Chain(known_key(around.state_home)))
    divergence = without_secrets(found.divergence, Redactor(around.secrets))
    if arguments.json:
        screen.document(_report(events, found, divergence))
    elif divergence is None:
        wakes = counted(found.wakes, "wake")
        requests = counted(found.requests_compared, "request")
        screen.raw(
            f"The run comes out again, byte for byte ({wakes}, {requests} to the model,"
            f" {found.events_compared} of {counted(len(events), 'event')} written by it)."
        )
    else:
        show_divergence(divergence, f"Event {divergence.sequence} is another one", screen)
    return 0 if divergence is None else _DIVERGED


def _report(
    events: Sequence[Event], found: RunReplayed, divergence: Divergence | None
) -> JsonObject:
    return {
        "session": events[0].session_id,
        "events": len(events),
        "wakes": found.wakes,
        "events_compared": found.events_compared,
        "requests_compared": found.requests_compared,
        "divergence": None if divergence is None else plain(divergence),
    }
