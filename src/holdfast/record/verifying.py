"""Does the journal still say what was written? Every event, every link, every end.

An edited, dropped, added or moved event breaks the keyed chain; a shortened or missing session does
not reach what was anchored outside of the store. It changes nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from holdfast.contract.journal import JournalUnavailable
from holdfast.record import rebuilding, sql
from holdfast.record.anchor_form import TAKEN_AWAY, Anchor, anchor_name, is_missed
from holdfast.record.codec import GENESIS, IMPORTED, Chain, Stored, UnreadableEvent, is_genuine
from holdfast.record.journal import Reader, Rows, stored_events
from holdfast.record.rows import SessionRow

Trouble = Literal[
    "edited",
    "added",
    "out of order",
    "dropped",
    "head",
    "cut off",
    "gone",
    "back again",
    "rows",
    "unreadable",
]


_FOLDED_FROM = 10
"""So many in a row are told as one."""


class Problem(NamedTuple):
    """Something that is not as it was written."""

    session_id: str
    sequence: int | None
    """At which event; None: the session as a whole."""
    trouble: Trouble
    told: str


class Verified(NamedTuple):
    """One session that was looked at."""

    session_id: str
    events: int
    anchored: int
    """Up to which event somebody outside of the store vouches for it."""
    problems: tuple[Problem, ...]
    imported: bool = False
    """It was put in as somebody else told it: vouched for from there on."""


def verify(
    reader: Reader, chain: Chain, anchors: Mapping[str, Anchor], only: str | None = None
) -> Iterator[Verified]:
    """Look at every session, one after the other. Blocking."""
    ids = {str(row[0]) for row in reader.rows(sql.ALL_SESSION_IDS, ())}
    named = {anchor_name(one): one for one in ids if only in (None, one)}
    for name in sorted(named.keys() | (anchors.keys() if only is None else {anchor_name(only)})):
        session_id, anchor = named.get(name), anchors.get(name)
        if session_id is not None:
            # As it is at one moment: it may be written to, or be taken away, meanwhile.
            with reader.snapshot() as seen:
                yield from _looked_at(seen, chain, session_id, anchor)
        elif anchor is not None and is_missed(anchor):
            told = f"it had come to event {anchor.sequence}, and is not there any more"
            problem = Problem(only or name, None, "gone", told)
            yield Verified(only or name, 0, anchor.sequence, (problem,))
    for number, count in reader.rows(sql.LOST_EVENTS, ()) if only is None else ():
        told = f"events that belong to no session are kept under number {number}: {count}"
        yield Verified("", count, 0, (Problem("", None, "added", told),))


def _looked_at(
    reader: Rows, chain: Chain, session_id: str, anchor: Anchor | None
) -> Iterator[Verified]:
    try:
        found = reader.rows(sql.SESSION, (session_id,))
        if found:
            yield _session(reader, chain, sql.session_of(found[0]), anchor)
    except JournalUnavailable as unread:
        reader.rows(sql.NOTHING, ())  # unless it is the store that cannot be read
        problem = Problem(session_id, None, "unreadable", str(unread))
        yield Verified(session_id, 0, 0, (problem,))


def _session(reader: Rows, chain: Chain, head: SessionRow, anchor: Anchor | None) -> Verified:
    walk = _Walk(head.id, chain, anchor)
    for row in stored_events(reader, head.id):
        walk.step(row)
    problems = [*_folded(walk.problems), *walk.at_the_end(head.sequence, head.hash)]
    rows = () if problems else _rows(reader, head.id)  # of broken events nothing can be made
    anchored = 0 if anchor is None else anchor.sequence
    found = (*problems, *walk.beside_the_anchor(), *rows)
    return Verified(head.id, walk.count, anchored, found, walk.imported)


class _Walk:
    """From the first event of a session to its last."""

    def __init__(self, session_id: str, chain: Chain, anchor: Anchor | None) -> None:
        self._session_id = session_id
        self._chain = chain
        self._anchor = anchor
        self._expected = 1
        self._previous: bytes = GENESIS
        self._at_anchor: bytes | None = None
        self.count = 0
        self.imported = False
        self.problems: list[Problem] = []

    def step(self, row: Stored) -> None:
        """The next event, as the store orders them."""
        self.count += 1
        if row.sequence == 1 and row.previous == IMPORTED:
            self.imported, self._previous = True, IMPORTED
        if row.sequence != self._expected:
            missing = f"after event {self._expected - 1} comes event {row.sequence}"
            self._note(row.sequence, "dropped", missing)
        elif row.previous != self._previous:
            self._note(row.sequence, "out of order", "it does not follow the event before it")
        if not is_genuine(row, self._chain):
            self._note(row.sequence, "edited", f"{row.type} {row.id} is not what was written")
        if self._anchor is not None and row.sequence == self._anchor.sequence:
            self._at_anchor = row.hash
        self._expected = row.sequence + 1
        self._previous = row.hash

    def at_the_end(self, sequence: int, found: bytes) -> Iterator[Problem]:
        """Whether the session's head is where its events end."""
        last = self._expected - 1
        if not self.count and found == IMPORTED:
            self.imported, self._previous = True, IMPORTED
        if (sequence, found) != (last, self._previous):
            told = f"its head says event {sequence}, its last event is {last}"
            yield Problem(self._session_id, None, "head", told)

    def beside_the_anchor(self) -> Iterator[Problem]:
        """Whether it is what was told of it outside of the store, however whole it is in itself."""
        if self._anchor is None or not self._anchor.sequence:
            return
        sequence, last = self._anchor.sequence, self._expected - 1
        if sequence == TAKEN_AWAY:
            yield Problem(self._session_id, None, "back again", "it had been taken away")
        elif self._at_anchor is None:
            told = f"it ends with event {last}, and had come to event {sequence}"
            yield Problem(self._session_id, last, "cut off", told)
        elif self._at_anchor != self._anchor.hash:
            told = "it is not the event that was anchored"
            yield Problem(self._session_id, sequence, "edited", told)

    def _note(self, sequence: int, trouble: Trouble, told: str) -> None:
        self.problems.append(Problem(self._session_id, sequence, trouble, told))


def _folded(problems: Sequence[Problem]) -> Iterator[Problem]:
    """Many edited events in a row are told at once: as a rule somebody else has signed them."""
    row: list[Problem] = []
    for problem in (*problems, None):
        if row and (problem is None or not _continues(row[-1], problem)):
            yield from row if len(row) < _FOLDED_FROM else [_as_one(row)]
            row = []
        if problem is not None:
            row.append(problem)


def _continues(last: Problem, problem: Problem) -> bool:
    if last.sequence is None or {last.trouble, problem.trouble} != {"edited"}:
        return False
    return problem.sequence == last.sequence + 1


def _as_one(row: Sequence[Problem]) -> Problem:
    told = f"it and {len(row) - 1} events behind it are not what was written, or were signed with"
    return row[0]._replace(told=f"{told} another key")


def _rows(reader: Rows, session_id: str) -> Iterator[Problem]:
    """Whether what is kept beside the events is what they add up to."""
    try:
        found = rebuilding.differences(reader, rebuilding.rebuilt(reader, session_id))
    except UnreadableEvent as problem:
        yield Problem(session_id, None, "unreadable", str(problem))
        return
    for one in found:
        told = f"{one.what} is not what the events add up to; see: holdfast sessions rebuild"
        yield Problem(session_id, None, "rows", told)
