"""How like sessions are to the calling one: what lists are ordered by, as far as it matters here.

A store orders all others in the same way by itself; this is for the calling session, whose live
shell no store knows. Pure.
"""

from datetime import UTC, datetime, timedelta

from holdfast.contract.archive import Likeness
from holdfast.contract.journal import Session
from holdfast.contract.managed.sessions import Relation
from holdfast.contract.outcomes import Trend
from holdfast.contract.session_state import requires_action

_TRENDS: dict[Trend | None, int] = {"improving": 3, "first_iteration": 2, "stable": 1}
_RELATIONS: dict[Relation | None, int] = {"parent": 2, "child": 2, "sibling": 1}

Rank = tuple[bool, bool, bool, int, int, datetime]
"""What goes first is greater."""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(micros: int) -> datetime:
    """A time of a session's state."""
    return _EPOCH + timedelta(microseconds=micros)


def likeness_of(session: Session) -> Likeness:
    """What others are compared with."""
    managed = session.state.managed
    return Likeness(
        session_id=session.id,
        parent_id=session.state.parent_id,
        setup_fingerprint=None if managed is None else managed.setup_fingerprint,
        outcome_title=None if managed is None else managed.outcome_title,
    )


def relation(session: Session, like: Likeness) -> Relation | None:
    """How it stands to the one it is compared with."""
    parent = session.state.parent_id
    if session.id == like.session_id:
        return "self"
    if session.id == like.parent_id:
        return "parent"
    if parent == like.session_id:
        return "child"
    return "sibling" if parent is not None and parent == like.parent_id else None


def last_active(session: Session) -> datetime:
    """When it last came to rest; one that never did: when something last happened."""
    managed = session.state.managed
    rested = 0 if managed is None else managed.rested_at
    return moment(rested) if rested else session.updated_at


def rank(session: Session, like: Likeness) -> Rank:
    """Where it stands among others, by what is written down of it."""
    managed = session.state.managed
    evaluated = None if managed is None else managed.evaluated
    return ranked(session, like, None if evaluated is None else evaluated.evaluation.trend)


def ranked(session: Session, like: Likeness, trend: Trend | None) -> Rank:
    """The same for one whose trend is known better."""
    own = likeness_of(session)
    return (
        like.setup_fingerprint is not None and own.setup_fingerprint == like.setup_fingerprint,
        like.outcome_title is not None and own.outcome_title == like.outcome_title,
        requires_action(session.state),
        _TRENDS.get(trend, 0),
        _RELATIONS.get(relation(session, like), 0),
        last_active(session),
    )
