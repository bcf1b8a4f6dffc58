"""Which copies of shared files a session has, by what its events tell.

How the files stand now is not known here.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from holdfast.contract.events import Event
from holdfast.contract.journal import EventQuery
from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed_events import ResourcePromoted, ResourceStaged
from holdfast.runtime.managed.ground import Ground

_TOLD = EventQuery(types=("resource.staged", "resource.promoted"))


class Entry(NamedTuple):
    """One copy, as it was staged or promoted last."""

    session_path: str
    source_path: str
    source_hash: str
    target_hash: str
    staged_at: str


async def drafts_of(ground: Ground) -> dict[str, Entry]:
    """By the path in the session; JournalError."""
    journal = (await ground.stores()).journal
    found: list[Event] = []
    query = _TOLD
    while page := await journal.find(ground.session_id, query):
        found = [*page, *found]
        query = replace(_TOLD, before=page[0].id)
    return drafts_in(found)


def drafts_in(events: Sequence[Event]) -> dict[str, Entry]:
    """What a session's events add up to."""
    found: dict[str, Entry] = {}
    for event in events:
        said = event.payload
        if isinstance(said, ResourceStaged):
            found[said.target_path] = Entry(
                session_path=said.target_path,
                source_path=said.source_path,
                source_hash=said.source_hash,
                target_hash=said.target_hash,
                staged_at=event.at.isoformat(),
            )
        elif isinstance(said, ResourcePromoted) and said.source_path in found:
            draft = found[said.source_path]
            if draft.source_path == said.target_path:
                held = said.content_hash
                found[said.source_path] = draft._replace(source_hash=held, target_hash=held)
    return found


def mirrored(drafts: dict[str, Entry]) -> JsonObject:
    """As the session's hand is shown them."""
    return {
        path: {
            "source_path": one.source_path,
            "source_content_hash": one.source_hash,
            "target_content_hash": one.target_hash,
            "staged_at": one.staged_at,
        }
        for path, one in sorted(drafts.items())
    }
