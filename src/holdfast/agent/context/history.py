"""Which part of a long history a model is told: the newest that fits, and nothing by halves.

For surfaces with a small budget for text. The loop tells all of it until it is compacted.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from holdfast.agent.context.entries import Entry, entry_tokens, groups
from holdfast.agent.one_line import one_line
from holdfast.contract.chunks import AssistantChunk

RecordKind = Literal["conversation", "runtime"]

LONGEST_NOTE = 180
PROTECTED = 2
"""How many records of conversation are taken before anything else."""
_LATEST: dict[RecordKind, int] = {"conversation": 48, "runtime": 12}
_BEFORE: dict[RecordKind, int] = {"conversation": 12, "runtime": 4}
_AFTER: dict[RecordKind, int] = {"conversation": 24, "runtime": 8}


class HistoryRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is told or not: rows that belong together, or a note of the runtime."""

    kind: RecordKind
    entries: tuple[Entry, ...]
    tokens: int

    @property
    def sequence(self) -> int:
        """The number of the event it begins with."""
        return self.entries[0].sequence


class HistoryCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a history was looked at, and what became of it."""

    total: int
    selected: int
    selected_conversation: int
    selected_runtime_notes: int
    dropped: int
    dropped_conversation: int
    dropped_runtime_notes: int
    protected_conversation: int
    older: int = 0
    """How many records lie further back than anything that was looked at."""


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What is told, in its order."""

    records: tuple[HistoryRecord, ...]
    counts: HistoryCounts
    tokens: int


def conversation(entries: Sequence[Entry]) -> tuple[HistoryRecord, ...]:
    """The rows of a conversation as records."""
    return tuple(_record("conversation", group) for group in groups(entries))


def runtime_note(text: str, sequence: int) -> HistoryRecord:
    """Something the runtime did, in a line."""
    row = AssistantChunk(content=one_line(text, LONGEST_NOTE))
    return _record("runtime", (Entry(row=row, sequence=sequence),))


def _record(kind: RecordKind, entries: tuple[Entry, ...]) -> HistoryRecord:
    return HistoryRecord(kind=kind, entries=entries, tokens=entry_tokens(entries))


def drawn(records: Iterable[HistoryRecord], cursor: int | None = None) -> tuple[HistoryRecord, ...]:
    """The records to choose from, in their order: the latest, or with a cursor the latest of those
    up to that event and the latest after it."""
    ordered = sorted(records, key=lambda record: record.sequence)
    if cursor is None:
        return _last(ordered, _LATEST)
    before = [record for record in ordered if record.sequence <= cursor]
    return (*_last(before, _BEFORE), *_last(ordered[len(before) :], _AFTER))


def _last(ordered: list[HistoryRecord], most: dict[RecordKind, int]) -> tuple[HistoryRecord, ...]:
    left, kept = dict(most), list[HistoryRecord]()
    for record in reversed(ordered):
        if left[record.kind] > 0:
            left[record.kind] -= 1
            kept.append(record)
    return tuple(reversed(kept))


def select(records: Sequence[HistoryRecord], budget: int, *, older: int = 0) -> Selection:
    """Choose what fits into a budget of tokens: the last two of the conversation first, then from
    the newest to the oldest whatever still fits."""
    newest = range(len(records) - 1, -1, -1)
    last = [place for place in newest if records[place].kind == "conversation"][:PROTECTED]
    chosen, left = set[int](), budget
    for place in (*last, *newest):
        if place not in chosen and records[place].tokens <= left:
            chosen.add(place)
            left -= records[place].tokens
    kept = tuple(record for place, record in enumerate(records) if place in chosen)
    return Selection(
        records=kept,
        counts=_counts(records, kept, len(chosen.intersection(last)), older),
        tokens=budget - left,
    )


def all_told(records: int) -> HistoryCounts:
    """The counts of a history of which nothing was dropped."""
    return HistoryCounts(
        total=records,
        selected=records,
        selected_conversation=records,
        selected_runtime_notes=0,
        dropped=0,
        dropped_conversation=0,
        dropped_runtime_notes=0,
        protected_conversation=min(records, PROTECTED),
    )


def _counts(
    records: Sequence[HistoryRecord], kept: Sequence[HistoryRecord], protected: int, older: int
) -> HistoryCounts:
    talk, told = _talk(records), _talk(kept)
    return HistoryCounts(
        total=len(records),
        selected=len(kept),
        selected_conversation=told,
        selected_runtime_notes=len(kept) - told,
        dropped=len(records) - len(kept),
        dropped_conversation=talk - told,
        dropped_runtime_notes=(len(records) - talk) - (len(kept) - told),
        protected_conversation=protected,
        older=older,
    )


def _talk(records: Sequence[HistoryRecord]) -> int:
    return sum(record.kind == "conversation" for record in records)
