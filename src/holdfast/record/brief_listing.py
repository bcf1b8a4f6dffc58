"""Which sessions to list, and in which order, as a statement that every store understands.

All that is looked at for every session is its brief; where a session stands is read of those that
are shown. When something last happened is asked of the session itself, and only where it matters.
"""

from collections.abc import Iterator, Sequence

from holdfast.contract.archive import Kinship, Likeness, SessionQuery
from holdfast.record.codec import micros_of
from holdfast.record.sql import SESSION_COLUMNS

_UPDATED = (
    "(SELECT chat_sessions.updated_at FROM chat_sessions"
    " WHERE chat_sessions.id = session_briefs.id)"
)
_ACTIVE = f"CASE WHEN rested_at > 0 THEN rested_at ELSE {_UPDATED} END"
_TREND = (
    "CASE outcome_trend WHEN 'improving' THEN 3 WHEN 'first_iteration' THEN 2"
    " WHEN 'stable' THEN 1 ELSE 0 END"
)
_KIN = (
    "CASE WHEN session_briefs.id = ? OR parent_id = ? THEN 2 WHEN parent_id = ? THEN 1 ELSE 0 END"
)
_COLUMNS = ", ".join(f"chat_sessions.{name}" for name in SESSION_COLUMNS.split(", "))

_Asked = tuple[str, tuple[object, ...]]
"""A statement and its values."""
_Piece = tuple[str, Sequence[object]]


def listed(query: SessionQuery) -> _Asked:
    """The sessions that fit, in their order."""
    keys = list(_order(query))
    named = [f"{key} AS key_{at}" for at, (key, _) in enumerate(keys)]
    order = ", ".join(f"key_{at} DESC" for at in range(len(keys)))
    where, fitting = _fitting(query)
    found = (
        f"SELECT session_briefs.id AS found, {', '.join(named)} FROM session_briefs{where}"
        f" ORDER BY {order} LIMIT ?"
    )
    statement = (
        f"SELECT {_COLUMNS} FROM ({found}) AS listed"
        f" JOIN chat_sessions ON chat_sessions.id = found ORDER BY {order}"
    )
    ordering = [value for _, values in keys for value in values]
    return statement, (*ordering, *fitting, query.limit)


def counted(parents: Sequence[str], query: SessionQuery) -> _Asked:
    """How many of those that fit stand below each of these."""
    places = ", ".join("?" * len(parents))
    where, fitting = _fitting(query, (f"parent_id IN ({places})", parents))
    return f"SELECT parent_id, count(*) FROM session_briefs{where} GROUP BY parent_id", fitting


def _order(query: SessionQuery) -> Iterator[_Piece]:
    """What sessions are ordered by, the greatest first."""
    like = query.like
    if like is None:
        yield _UPDATED, ()
        yield "session_briefs.id", ()
        return
    if like.setup_fingerprint is not None:
        yield "CASE WHEN setup = ? THEN 1 ELSE 0 END", (like.setup_fingerprint,)
    if like.outcome_title is not None:
        yield "CASE WHEN outcome_title = ? THEN 1 ELSE 0 END", (like.outcome_title,)
    yield "requires_action", ()
    yield _TREND, ()
    yield _KIN, (like.parent_id, like.session_id, like.parent_id)
    yield _ACTIVE, ()
    yield "session_briefs.id", ()


def _fitting(query: SessionQuery, *more: _Piece) -> _Asked:
    pieces = [*more, *_conditions(query)]
    where = " AND ".join(f"({condition})" for condition, _ in pieces)
    values = tuple(value for _, values in pieces for value in values)
    return f" WHERE {where}" if pieces else "", values


def _conditions(query: SessionQuery) -> Iterator[_Piece]:
    if query.agent_id is not None:
        agents = (query.agent_id, "") if query.or_nobodys else (query.agent_id,)
        yield f"agent_id IN ({', '.join('?' * len(agents))})", agents
    equal = {
        "parent_id": query.parent_id,
        "status": query.status,
        "outcome_status": query.outcome_status,
        "outcome_trend": query.outcome_trend,
        "promotion_ready": None if query.promotion_ready is None else int(query.promotion_ready),
    }
    for name, wanted in equal.items():
        if wanted is not None:
            yield f"{name} = ?", (wanted,)
    if query.has_outcome is not None:
        yield f"outcome_title IS {'NOT ' * query.has_outcome}NULL", ()
    if query.active_before is not None:
        yield f"{_UPDATED} < ?", (micros_of(query.active_before),)
    if query.active_since is not None:
        yield f"{_ACTIVE} >= ?", (micros_of(query.active_since),)
    if query.like is not None:
        yield "session_briefs.id <> ?", (query.like.session_id,)
        if query.kin is not None:
            yield _kin(query.kin, query.like)


def _kin(kin: Kinship, like: Likeness) -> _Piece:
    parent: _Piece = ("session_briefs.id = ?", (like.parent_id,))
    child: _Piece = ("parent_id = ?", (like.session_id,))
    sibling: _Piece = ("parent_id = ?", (like.parent_id,))
    known: dict[Kinship, Sequence[_Piece]] = {
        "parent": (parent,),
        "children": (child,),
        "siblings": (sibling,),
        "related": (parent, child, sibling),
    }
    ways = known[kin]
    return " OR ".join(one for one, _ in ways), [value for _, values in ways for value in values]
