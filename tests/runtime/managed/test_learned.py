"""What was learned: each thing once, and what of it MEMORY.md says."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.archive import Learned
from holdfast.contract.wake_events import LearningCaptured
from holdfast.runtime.managed.learned import MOST_PROMOTED, once, promoted_text

KINDS = st.sampled_from(["lesson", "correction", "error"])
CAPTURED = st.builds(
    LearningCaptured,
    learning_kind=KINDS,
    title=st.sampled_from(["a", "A", "b"]),
    detail=st.sampled_from(["x", "X", "y\n# y"]),
    promote_to_memory=st.booleans(),
    dedupe_key=st.none() | st.sampled_from(["k", "K"]),
)


def captured(said: Sequence[LearningCaptured]) -> list[Learned]:
    return [
        Learned(
            event_id=f"evt_{number}",
            session_id=f"ses_{number % 3}",
            wake_id=None,
            at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number),
            said=one,
        )
        for number, one in enumerate(said)
    ]


def key(one: Any) -> tuple[str, ...]:
    kind = one.learning_kind if isinstance(one, LearningCaptured) else one.kind
    if one.dedupe_key is not None:
        return (one.dedupe_key,)
    return (kind, one.title.lower(), one.detail.lower())


@pytest.mark.req("BOA-DIR-17")
@given(st.lists(CAPTURED, max_size=12))
def test_each_is_kept_where_it_was_captured_first(said: list[LearningCaptured]) -> None:
    found = once(captured(said))
    assert [key(one) for one in found] == list(dict.fromkeys(map(key, said)))
    for one in found:
        same = [number for number, other in enumerate(said) if key(other) == key(one)]
        assert one.learning_id == f"evt_{same[0]}"
        assert one.promote_to_memory == any(said[number].promote_to_memory for number in same)


@given(st.lists(CAPTURED, max_size=12))
def test_memory_says_those_that_are_promoted_a_line_each(said: list[LearningCaptured]) -> None:
    found = once(captured(said))
    lines = promoted_text(found).splitlines()
    promoted = [one for one in found if one.promote_to_memory]
    assert len(lines) == (len(promoted) + 2 if promoted else 0)
    assert all(line.startswith("- ") for line in lines[2:])


def test_what_was_learned_long_ago_is_counted_and_said_elsewhere() -> None:
    said = [
        LearningCaptured(
            learning_kind="lesson", title=f"t{number}", detail="d", promote_to_memory=True
        )
        for number in range(MOST_PROMOTED + 3)
    ]
    lines = promoted_text(once(captured(said))).splitlines()
    assert lines[2] == "- 3 earlier ones: see learning_list."
    assert lines[3] == "- lesson: t3: d"
    assert (lines[-1], len(lines)) == (f"- lesson: t{MOST_PROMOTED + 2}: d", MOST_PROMOTED + 3)
