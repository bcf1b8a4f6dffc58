"""What becomes of one hint: the session is looked at, run if it is due, and the hint is answered.

The journal is the truth: whoever comes for nothing is answered and forgotten. A hint is answered
only when what has to be said in its place was said, so that none is lost with a worker. Which hint
is attended to when is not known here.
"""

import logging
from secrets import randbelow
from typing import NamedTuple

import msgspec
from anyio import sleep

from holdfast.contract.journal import (
    JournalError,
    JournalUnavailable,
    JournalUnusable,
    Session,
    StaleEpoch,
    TooNew,
    UnknownSession,
)
from holdfast.contract.ports import Clock
from holdfast.contract.session_state import due_micros
from holdfast.contract.wakes import WakeEnd
from holdfast.engine.cluster.announcing import is_leased
from holdfast.engine.cluster.dead import Dead
from holdfast.engine.cluster.hints import SECOND, VAIN, Hint, Told, again_told, later_told, now_told
from holdfast.engine.cluster.link import Link
from holdfast.engine.cluster.looking import Looks
from holdfast.engine.cluster.tenants import ClusterPace, Tenant
from holdfast.engine.resting import FIRST_SECONDS, MOST_SECONDS, Causes, causes_of

_log = logging.getLogger("holdfast")

EARLY_MICROS = 2 * SECOND
"""So much too early it is waited for in place: hints come by the second."""
_UNWRITTEN_SECONDS = 1.0
"""What could not be written down is tried again so much later: a disk stays full for a while."""
_MOST_NEWER_MILLIS = 10_000
"""So late at the most comes a hint again that only a newer worker can attend to."""
_HELD_SECONDS = 5
"""The same for a session that somebody runs whose lease is not known."""
_GRACE_SECONDS = 0.02
_ACK = b"+ACK"
_KEEP = b"+WPI"
_GONE = "its worker was gone before it ended"


class Attended(msgspec.Struct, frozen=True):
    """What came of a hint."""

    executed: bool = False
    rest_seconds: float | None = None
    """The store of its tenant could not be used: it is left alone for so long, and until it can."""
    vain: Causes = frozenset()
    """What it was run for, where nothing came of it or somebody else had it."""


class _Run(NamedTuple):
    executed: bool
    why: str
    """It may have been in vain."""
    causes: Causes
    """What it was run for."""


class Attending:
    """For one tenant."""

    def __init__(self, link: Link, tenant: Tenant, clock: Clock, pace: ClusterPace) -> None:
        self._link = link
        self._names = link.names
        self._tenant = tenant
        self._clock = clock
        self._pace = pace
        self.looks = Looks(tenant.outbox, clock, pace.ack_seconds / 2)
        """At the sessions of its store."""
        self._dead = Dead(link)
        self._told_newer: set[str] = set()
        """Sessions of which it was said that they are left to newer workers."""

    async def attend(self, hint: Hint) -> Attended:
        """Run its session if it is due, and answer it. LinkError: it comes again."""
        try:
            session = await self._due_session(hint)
        except TooNew as problem:
            await self._leave_to_newer(hint, problem)
            return Attended()
        except JournalError as problem:
            _log.warning("session %s is not looked at: %s", hint.to.session_id, problem)
            await self.give_back(hint)  # others may be able to
            return Attended(rest_seconds=0)
        if session is None:
            return Attended()
        try:
            return await self._run(hint, session)
        except TooNew as problem:
            await self._leave_to_newer(hint, problem)
            return Attended()
        except JournalError as problem:
            _log.warning("session %s is not run now: %s", hint.to.session_id, problem)
            await self.put_off(hint, _UNWRITTEN_SECONDS)
            return Attended(rest_seconds=_UNWRITTEN_SECONDS)

    async def keep(self, hint: Hint) -> None:
        """Say that it is in hand. LinkError.

        Not where the store does not answer: nobody could tell whether its session is run, and
        another worker may be able to.
        """
        passed = self._clock.ticks() - self.looks.answered
        is_silent = passed > self._pace.ack_seconds / 2 * 1_000_000_000
        if is_silent or not self._link.client.is_connected:
            return
        ticks = self._clock.ticks()
        await self._link.client.publish(hint.reply, _KEEP, headers={})
        if not self.is_lost(hint):
            hint.heard = ticks

    def is_lost(self, hint: Hint) -> bool:
        """Whether nobody heard for so long that it is in hand that another one has it by now."""
        passed = self._clock.ticks() - hint.heard
        return passed > self._pace.ack_seconds * 1_000_000_000

    async def give_back(self, hint: Hint) -> None:
        """Somebody else may take it at once. LinkError."""
        if not self.is_lost(hint):
            await self._link.tell(hint.subject, hint.body, {VAIN: str(hint.vain)})
            await self.answer(hint)

    async def put_off(self, hint: Hint, seconds: float) -> None:
        """Have it again, as it is, some seconds later. LinkError."""
        at = self._now() + int(seconds * SECOND)
        await self._say(hint, again_told(self._names, hint, at))

    async def answer(self, hint: Hint) -> None:
        """It was attended to. LinkError."""
        await self._link.client.publish(hint.reply, _ACK, headers={})

    async def _leave_to_newer(self, hint: Hint, problem: TooNew) -> None:
        """It is nothing against the session, nor its store: a newer worker takes it sooner or
        later. At random moments, or the same one could come first every time."""
        if hint.to.session_id not in self._told_newer:
            self._told_newer.add(hint.to.session_id)
            _log.warning("session %s is left to newer workers: %s", hint.to.session_id, problem)
        await self.put_off(hint, randbelow(_MOST_NEWER_MILLIS) / 1000)

    async def _due_session(self, hint: Hint) -> Session | None:
        """Where it stands, once it is due; None: it was for nothing, and is answered."""
        session = await self._standing(hint.to.session_id)
        due = None if session is None else due_micros(session.state)
        if session is None or due is None:
            await self.answer(hint)
            return None
        early = due - self._now()
        if early > EARLY_MICROS:
            await self._say(hint, later_told(self._names, self._tenant.name, session, due))
            return None
        if early > 0:
            await sleep(early / SECOND)
        if hint.vain >= self._pace.most_in_vain and not is_leased(session, self._now()):
            await self._bury(hint, session, _GONE, hint.vain)
            return None
        return session

    async def _standing(self, session_id: str) -> Session | None:
        """Where it stands; None: it is gone, or damaged. TooNew: only a newer worker can tell."""
        found = await self.looks.at(session_id)
        if found is not None:
            return found
        try:
            return await self._tenant.journal.session(session_id)
        except TooNew:
            raise
        except (UnknownSession, JournalUnusable):
            return None

    async def _run(self, hint: Hint, session: Session) -> Attended:
        causes = causes_of(session.state, self._now())
        is_again = False
        while True:
            end, why = await self._run_once(session.id)
            after = await self._standing(session.id)
            now = self._now()
            due = None if after is None else due_micros(after.state)
            if after is None or due is None:
                await self.answer(hint)
                return Attended(executed=end.executed)
            if end.reason != "lease_contended":
                return await self._settled(hint, after, _Run(end.executed, why, causes))
            left = _lease_micros(after, now)
            if left is None and not is_again and (session.lease or after.lease) is not None:
                # Whoever had it a moment ago has it no more.
                is_again, left = True, 0
            if left is None or left > EARLY_MICROS:
                held = now + (_HELD_SECONDS * SECOND if left is None else left)
                again = later_told(self._names, self._tenant.name, after, held, hint.vain)
                await self._say(hint, again)
                return Attended(vain=causes)
            await sleep(left / SECOND + _GRACE_SECONDS)

    async def _run_once(self, session_id: str) -> tuple[WakeEnd, str]:
        """How it ended, and why it may have been in vain: in words that hold no secret.

        JournalUnavailable: the store cannot be written now, or only by a newer worker, which is
        nothing against the session.
        """
        try:
            end = await self._tenant.runner(session_id)
        except StaleEpoch:
            end = WakeEnd(session_id=session_id, executed=False, reason="lease_contended")
        except Exception as problem:
            if isinstance(problem, TooNew) or _may_pass(problem):
                raise
            # No run of one session must end all others.
            _log.exception("the run of session %s failed", session_id)
            end = WakeEnd(session_id=session_id, executed=True, ended="failed")
            return end, f"its run raised {type(problem).__name__}"
        return end, _why(end)

    async def _settled(self, hint: Hint, session: Session, run: "_Run") -> Attended:
        """It was run, and is due again: later, for something new, or it was in vain."""
        now = self._now()
        due = due_micros(session.state) or 0
        name = self._tenant.name
        if due > now:
            await self._say(hint, later_told(self._names, name, session, due))
            await self._tenant.outbox.told([session])
            return Attended(executed=run.executed)
        left = causes_of(session.state, now) & run.causes
        if not left:
            await self._say(hint, now_told(self._names, name, session, now))
            return Attended(executed=run.executed)
        vain = hint.vain + 1
        if vain >= self._pace.most_in_vain:
            await self._bury(hint, session, run.why, vain)
        else:
            pause = min(FIRST_SECONDS * 2 ** (vain - 1), MOST_SECONDS)
            at = now + int(pause * SECOND)
            await self._say(hint, later_told(self._names, name, session, at, vain))
        return Attended(executed=run.executed, vain=left)

    async def _bury(self, hint: Hint, session: Session, why: str, vain: int) -> None:
        if self.is_lost(hint):
            return
        await self._dead.bury(hint.to, session, why, vain, self._now())
        _log.warning("session %s goes to the dead: %s", session.id, why)
        await self.answer(hint)

    async def _say(self, hint: Hint, instead: Told) -> None:
        """Say something in its place, and answer it. One that another has by now is left to it."""
        if not self.is_lost(hint):
            await self._link.tell(instead.subject, instead.body, instead.headers)
            await self.answer(hint)

    def _now(self) -> int:
        return self._clock.unix_ns() // 1000


def _may_pass(problem: Exception) -> bool:
    """Whether it is the store that cannot be written now."""
    return isinstance(problem, JournalUnavailable) and not isinstance(problem, JournalUnusable)


def _why(end: WakeEnd) -> str:
    if end.reason == "not_ours":
        return "no worker that had it knows its agent"
    if end.ended == "failed":
        return "its run failed; see what the session says"
    return "nothing came of its run"


def _lease_micros(session: Session, now: int) -> int | None:
    """How long whoever runs it still may; None: nobody does, as far as is written."""
    lease = session.lease
    return None if lease is None or lease.until_micros <= now else lease.until_micros - now
