"""The dead: sessions that were run in vain too often. They are looked at, and sent back.

What stands there is who, when, how often and why, in words of ours: what went wrong in a run is in
the journal, and nothing secret is in messages.
"""

from collections.abc import AsyncIterator, Sequence
from secrets import token_hex

import msgspec

from holdfast.contract.journal import Session
from holdfast.contract.session_state import due_micros
from holdfast.engine.cluster.hints import ID, Body
from holdfast.engine.cluster.link import Kept, Link
from holdfast.engine.cluster.streams import Streams
from holdfast.engine.cluster.subjects import Class, WakeSubject


class DeadSession(msgspec.Struct, frozen=True, kw_only=True):
    """One that was run in vain too often."""

    tenant: str
    session: str
    why: str
    times: int
    """How often it was run in vain."""
    at: int
    """When it was given up, in microseconds since 1970."""
    sequence: int
    """The number of its last event by then."""
    due: int
    kind: Class
    label: str


class Dead:
    """All of a namespace. All raise LinkError."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._names = link.names
        self.streams = Streams(link.names, link.replicas)

    async def bury(self, to: WakeSubject, session: Session, why: str, times: int, at: int) -> None:
        """Put one there, in place of what was said of it before."""
        one = DeadSession(
            tenant=to.tenant,
            session=to.session_id,
            why=why,
            times=times,
            at=at,
            sequence=session.sequence,
            due=due_micros(session.state) or 0,
            kind=to.kind,
            label=to.label,
        )
        subject = self._names.dead_one(to.tenant, to.session_id)
        await self._link.tell(subject, msgspec.json.encode(one))

    async def all(self) -> AsyncIterator[DeadSession]:
        """Each, the one that was given up first before the others."""
        await self._link.have(self.streams)
        after = 0
        while kept := await self._link.next(self._names.dead, self._names.of_dead, after):
            after = kept.seq
            one = _read(kept)
            if one is not None:
                yield one

    async def some(self, tenant: str, after: int, most: int) -> tuple[Sequence[DeadSession], int]:
        """Of one tenant, so many behind a number; and behind which one others are, 0: none is."""
        await self._link.have(self.streams)
        found: list[DeadSession] = []
        for _ in range(most):
            kept = await self._link.next(self._names.dead, self._names.dead_of(tenant), after)
            if kept is None:
                return found, 0
            after = kept.seq
            one = _read(kept)
            if one is not None:
                found.append(one)
        return found, after

    async def of(self, tenant: str, session_id: str) -> DeadSession | None:
        """What is said of one; None: it is not there."""
        kept = await self._kept(tenant, session_id)
        return None if kept is None else _read(kept)

    async def requeue(self, tenant: str, session_id: str) -> bool:
        """Have it run again, as if it had never been in vain; whether it was there."""
        kept = await self._kept(tenant, session_id)
        one = None if kept is None else _read(kept)
        if kept is None or one is None:
            return False
        to = WakeSubject(tenant, one.kind, one.label, session_id)
        body = msgspec.json.encode(Body(session_id, one.due))
        told = {ID: f"{tenant}:{session_id}:again-{token_hex(8)}"}
        await self._link.tell(self._names.wake(to), body, told)
        await self._link.remove(self._names.dead, kept.seq)
        return True

    async def forget(self, tenant: str, session_id: str) -> None:
        """It is not dead, or gone; harmless where it was never there."""
        kept = await self._kept(tenant, session_id)
        if kept is not None:
            await self._link.remove(self._names.dead, kept.seq)

    async def _kept(self, tenant: str, session_id: str) -> Kept | None:
        await self._link.have(self.streams)
        return await self._link.last(self._names.dead, self._names.dead_one(tenant, session_id))


def _read(kept: Kept) -> DeadSession | None:
    """None: somebody else wrote it."""
    try:
        return msgspec.json.decode(kept.data, type=DeadSession)
    except msgspec.DecodeError:
        return None
