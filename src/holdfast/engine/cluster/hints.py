"""Hints: the messages that say that a session has to be run. Their form, and nothing else.

In a message stand a session and the moment that it is due; beside it, how often it was run in vain.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from holdfast.contract.journal import Session
from holdfast.contract.session_state import due_micros
from holdfast.engine.cluster.door import Heard
from holdfast.engine.cluster.subjects import Names, WakeSubject, class_of, label_of

VAIN = "Holdfast-Vain"
ID = "Nats-Msg-Id"
_SCHEDULE = "Nats-Schedule"
_TARGET = "Nats-Schedule-Target"
_ACK = "$JS.ACK."
_ACK_PARTS = 9
"""Of where an answer goes: a domain and an account may stand before the last seven."""
SECOND = 1_000_000
_NEWEST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()


class Body(msgspec.Struct, frozen=True):
    """What stands in a message."""

    session: str
    due: int
    """In microseconds since 1970; 0: at once."""


class Told(msgspec.Struct, frozen=True):
    """A message to be sent."""

    subject: str
    body: bytes
    headers: Mapping[str, str]


class Hint(msgspec.Struct, eq=False):
    """One that came, until it is answered."""

    to: WakeSubject
    subject: str
    body: bytes
    reply: str
    """Where the answer goes."""
    vain: int
    """How often it was run in vain, those counting that never came to an end."""
    is_redelivered: bool
    consumer: str
    heard: int
    """When somebody last said that it is in hand, in ticks of the clock."""

    @property
    def key(self) -> tuple[str, str]:
        """Whose it is, in a fleet of many tenants."""
        return self.to.tenant, self.to.session_id


def subject_of(session: Session, tenant: str, by_micros: int) -> WakeSubject:
    """Where the hint of a session goes."""
    state = session.state
    return WakeSubject(tenant, class_of(state, by_micros), label_of(state), session.id)


def now_told(names: Names, tenant: str, session: Session, now_micros: int, by: str = "") -> Told:
    """That it has to be run now. ``by``: who says so again, although it may have been said."""
    due = due_micros(session.state) or 0
    told = f"{tenant}:{session.id}:{due}:{session.sequence}{by}"
    return Told(
        names.wake(subject_of(session, tenant, now_micros)), _body(session.id, due), {ID: told}
    )


def later_told(names: Names, tenant: str, session: Session, at_micros: int, vain: int = 0) -> Told:
    """That it has to be run at a moment, in place of what was said before: up to a second early."""
    target = names.wake(subject_of(session, tenant, at_micros))
    headers = {_SCHEDULE: f"@at {_second(at_micros)}", _TARGET: target, VAIN: str(vain)}
    due = due_micros(session.state) or 0
    return Told(names.later(tenant, session.id), _body(session.id, due), headers)


def again_told(names: Names, hint: Hint, at_micros: int) -> Told:
    """The same as a hint said, at a moment: where nobody can tell how its session stands."""
    headers = {_SCHEDULE: f"@at {_second(at_micros)}", _TARGET: hint.subject, VAIN: str(hint.vain)}
    return Told(names.later(*hint.key), hint.body, headers)


def hint_in(names: Names, heard: Heard, ticks: int) -> Hint | None:
    """The hint in a message; None: it is none of ours."""
    to = names.read_wake(heard.subject)
    parts = heard.reply.split(".")
    if to is None or not heard.reply.startswith(_ACK) or len(parts) < _ACK_PARTS:
        return None
    # Behind $JS.ACK: stream, consumer, how often it came, and more; then perhaps a token at random.
    at = 2 if len(parts) == _ACK_PARTS else 4
    consumer, times = parts[at + 1], _number(parts[at + 2])
    return Hint(
        to=to,
        subject=heard.subject,
        body=heard.body,
        reply=heard.reply,
        vain=_number(heard.headers.get(VAIN, "")) + max(0, times - 1),
        is_redelivered=times > 1,
        consumer=consumer,
        heard=ticks,
    )


def due_in(body: bytes) -> int:
    """When the session of a message was due, as whoever sent it knew; 0: nobody can tell."""
    try:
        return msgspec.json.decode(body, type=Body).due
    except msgspec.DecodeError:
        return 0


def _body(session_id: str, due: int) -> bytes:
    return msgspec.json.encode(Body(session_id, due))


def _second(at_micros: int) -> str:
    """The second in which it is, as schedules are written."""
    moment = datetime.fromtimestamp(min(at_micros // SECOND, _NEWEST), UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
