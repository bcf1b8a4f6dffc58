"""Replaying a session: is the same written down again? Nothing acts, and nothing is changed."""

from typing import Literal

import msgspec

from holdfast.app.diverged import without_secrets
from holdfast.app.replaying import Now, recording, replay_strictly
from holdfast.app.run_replaying import replay_run
from holdfast.app.store import known_key
from holdfast.contract.events import SessionCreated
from holdfast.record.codec import Chain
from holdfast.record.divergence import Divergence
from holdfast.surfaces.http.problems import Problem
from holdfast.surfaces.http.routes import Asked, Body, Query, Route


class Replay(Body, frozen=True, kw_only=True):
    """How it is replayed."""

    what: Literal["run", "calls"] = "run"
    """`run`: the agent's runs once more, with the model and the answers of the recording.
    `calls`: its calls once more, with the tools and rules of now, where it ran."""


class ReplayedRow(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    same: bool
    what: str
    events: int
    compared: int
    """Events that were written again, or calls that were settled again."""
    divergence: Divergence | None = None
    """The first event that is another one."""


async def replay(asked: Asked[Query, Replay]) -> ReplayedRow:
    """Replay a session, and name the first event that is another one."""
    house, name, what = asked.house, asked.names["id"], asked.body.what
    events = await recording(house.journal, house.archive, name)
    chain = Chain(known_key(house.around.state_home))
    if what == "run":
        if not any(event.type == "model.requested" for event in events):
            raise Problem(409, "the session has no runs of an agent; replay its calls instead")
        found = await replay_run(events, chain)
        compared, divergence = found.events_compared, found.divergence
    else:
        created = events[0].payload
        workspace = created.workspace if isinstance(created, SessionCreated) else None
        async with house.at(workspace) as place:
            now = Now(
                tools=place.parts.wanted.tools,
                configuration=place.parts.configuration,
                surroundings=house.around,
                chain=chain,
            )
            told = await replay_strictly(events, now)
        compared, divergence = told.calls, told.divergence
    return ReplayedRow(
        same=divergence is None,
        what=what,
        events=len(events),
        compared=compared,
        divergence=without_secrets(divergence, house.redactor),
    )


ROUTES = (
    Route(
        method="POST",
        path="/sessions/{id}/replay",
        name="replay",
        says="Replay a session, and name the first event that is another one.",
        answer=replay,
        body=Replay,
        gives=ReplayedRow,
        fails=(404, 409),
    ),
)
