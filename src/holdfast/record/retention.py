"""Which sessions may go: a pure decision over what is known of each. It reads and removes nothing.

A session goes when any limit says so, and nobody needs it. Families stay or go as a whole: whoever
is the parent or a child of one that stays, stays.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.contract.journal import Session


class StoredSession(NamedTuple):
    """What is known of a session."""

    id: str
    parent_id: str | None
    active_at: int
    """When something last happened; in microseconds since 1970."""
    bytes: int
    need: str | None = None
    """Why it has to stay, whatever the limits say."""


class Limits(NamedTuple):
    """What may stay; None: there is no such limit."""

    active_since: int | None = None
    """Whoever was last active before goes; in microseconds since 1970."""
    sessions: int | None = None
    """So many, the last active ones; their families come on top."""
    bytes: int | None = None
    """So much, all together; what is needed stays even if that is more."""


class Going(NamedTuple):
    """A session that may go, and the limit it is beyond."""

    session: StoredSession
    why: str


_OLD, _MANY, _LARGE = "inactive for too long", "beyond the number kept", "beyond the bytes kept"


def need_of(session: Session, *, held: bool, in_use: bool, waits: bool) -> str | None:
    """Why a session has to stay; None: nothing is lost but the past.

    ``held``: by somebody who lives. ``in_use``: its folder is. ``waits``: a person's event does.
    """
    state = session.state
    if held:
        return "somebody runs it"
    if in_use:
        return "its folder is in use"
    if state.status == "running":
        return "it is running"
    if state.calls:
        return "it has open calls"
    if state.confirmation is not None or state.custom is not None:
        return "a question is open"
    if state.status == "requires_action":
        return "a question is open"
    if waits or state.interrupts or state.status == "rescheduling":
        return "what somebody said is not taken into account yet"
    return None


def may_go(sessions: Iterable[StoredSession], limits: Limits) -> tuple[Going, ...]:
    """The sessions that may go, the longest inactive first."""
    newest_first = sorted(sessions, key=lambda one: (one.active_at, one.id), reverse=True)
    why = dict(_beyond(newest_first, limits))
    stays: list[list[StoredSession]] = []
    goes: list[Going] = []
    for family in _families(newest_first):
        if all(one.need is None and one.id in why for one in family):
            goes += [Going(one, why[one.id]) for one in family]
        else:
            stays.append(family)
    goes += _too_large(stays, limits.bytes)
    return tuple(sorted(goes, key=lambda one: (one.session.active_at, one.session.id)))


def _beyond(newest_first: Sequence[StoredSession], limits: Limits) -> Iterable[tuple[str, str]]:
    """Who is too old or one too many, by itself."""
    for number, one in enumerate(newest_first):
        if limits.active_since is not None and one.active_at < limits.active_since:
            yield one.id, _OLD
        elif limits.sessions is not None and number >= limits.sessions:
            yield one.id, _MANY


def _too_large(families: Sequence[Sequence[StoredSession]], most: int | None) -> list[Going]:
    """The longest inactive of those that nobody needs, until the rest fits."""
    if most is None:
        return []
    goes: list[Going] = []
    total = sum(one.bytes for family in families for one in family)
    for family in sorted(families, key=lambda them: max((one.active_at, one.id) for one in them)):
        if total <= most:
            break
        if all(one.need is None for one in family):
            goes += [Going(one, _LARGE) for one in family]
            total -= sum(one.bytes for one in family)
    return goes


def _families(sessions: Sequence[StoredSession]) -> list[list[StoredSession]]:
    """Sessions that are parents and children of each other, however far apart."""
    above = {one.id: one.parent_id for one in sessions}
    head: dict[str, str] = {}

    def head_of(session_id: str) -> str:
        way: list[str] = []
        here = session_id
        while head.get(here, here) != here:
            way.append(here)
            here = head[here]
        head.update(dict.fromkeys(way, here))
        return here

    for one, parent in above.items():
        if parent is not None and parent in above:
            head[head_of(one)] = head_of(parent)
    families: dict[str, list[StoredSession]] = {}
    for one in sessions:
        families.setdefault(head_of(one.id), []).append(one)
    return list(families.values())
