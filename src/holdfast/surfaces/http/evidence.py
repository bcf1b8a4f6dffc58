"""The journal and the audit log as evidence: what ran, and is everything as it was written."""

from collections import deque
from typing import Annotated

import msgspec
from anyio import to_thread

from holdfast.app.audit import audit_folder
from holdfast.app.ledger import StoreProblem, verified
from holdfast.contract.audit import ProgramRun
from holdfast.record.audit_lines import written
from holdfast.record.audit_reader import AuditReader
from holdfast.record.verifying import Problem as Damage
from holdfast.surfaces.http.house import House
from holdfast.surfaces.http.problems import Problem
from holdfast.surfaces.http.routes import Asked, Body, Query, Route


class ProgramsAsked(Query, frozen=True, kw_only=True):
    """Which of them."""

    day: Annotated[str, msgspec.Meta(pattern=r"^[0-9]{8}$")] | None = None
    """As in 20260801; the newest day by default."""
    session: str | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=5_000)] = 200


class Programs(msgspec.Struct, frozen=True, kw_only=True):
    """The last ones that fit, the oldest first."""

    day: str | None
    days: tuple[str, ...]
    """The days there are."""
    lines: list[msgspec.Raw]
    """As in the log (docs/audit.md)."""
    unreadable: int


async def list_programs(asked: Asked[ProgramsAsked, Body]) -> Programs:
    """Which programs ran on a day, without what they were told or printed."""
    return await to_thread.run_sync(_programs, asked.house, asked.query)


def _programs(house: House, wanted: ProgramsAsked) -> Programs:
    home = house.around.state_home
    if home is None:
        return Programs(day=None, days=(), lines=[], unreadable=0)
    reader = AuditReader(audit_folder(home))
    try:
        days = reader.days()
        day = wanted.day or (days[-1] if days else None)
        found: deque[ProgramRun] = deque(maxlen=wanted.limit)
        unreadable = 0
        for entry in reader.entries(day, day) if day is not None else ():
            if not isinstance(entry, ProgramRun):
                unreadable += 1
            elif wanted.session is None or entry.session == wanted.session:
                found.append(entry)
    except OSError as problem:
        raise Problem(503, f"the audit log cannot be read: {problem}") from None
    lines = [msgspec.Raw(written(one)) for one in found]
    return Programs(day=day, days=days, lines=lines, unreadable=unreadable)


class Verify(Body, frozen=True, kw_only=True):
    """What is to be looked at."""

    session: str | None = None
    """Everything, without it."""


class DamageRow(msgspec.Struct, frozen=True, kw_only=True):
    """Where something is not as it was written."""

    session_id: str | None
    sequence: int | None
    trouble: str
    told: str


class VerdictRow(msgspec.Struct, frozen=True, kw_only=True):
    """What came of looking."""

    whole: bool
    """Everything is as it was written."""
    sessions: int
    events: int
    not_anchored: int
    imported: int
    problems: list[DamageRow]


async def verify(asked: Asked[Query, Verify]) -> VerdictRow:
    """Is every event what was written, and is none missing?"""
    house = asked.house

    def look() -> VerdictRow:
        found = verified(house.settings, house.around, asked.body.session, lambda _one: None)
        return VerdictRow(
            whole=not found.problems,
            sessions=found.sessions,
            events=found.events,
            not_anchored=found.not_anchored,
            imported=found.imported,
            problems=[_damage(one) for one in found.problems],
        )

    return await to_thread.run_sync(look)


def _damage(one: Damage | StoreProblem) -> DamageRow:
    session, sequence = (one.session_id, one.sequence) if isinstance(one, Damage) else ("", None)
    return DamageRow(
        session_id=session or None, sequence=sequence, trouble=one.trouble, told=one.told
    )


ROUTES = (
    Route(
        method="GET",
        path="/audit/programs",
        name="list_programs",
        says="Which programs ran on a day.",
        answer=list_programs,
        query=ProgramsAsked,
        gives=Programs,
        fails=(503,),
    ),
    Route(
        method="POST",
        path="/audit/verify",
        name="verify",
        says="Is every event what was written, and is none missing?",
        answer=verify,
        body=Verify,
        gives=VerdictRow,
        fails=(404,),
    ),
)
