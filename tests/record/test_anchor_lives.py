"""Sessions that are taken away and come back: whoever tells it, the last life counts."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from record.anchored import HASH, restored

from holdfast.record.anchor_form import TAKEN_AWAY, Anchor, is_missed
from holdfast.record.anchors import AnchorFiles, read_anchors, taken_away


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "anchors"


Step = tuple[Literal["append", "delete", "restore", "close"], int, int]
_steps: st.SearchStrategy[list[Step]] = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "delete", "restore", "close"]),
        st.integers(0, 2),
        st.integers(0, 5),
    ),
    max_size=20,
)


@given(steps=_steps)
def test_whoever_tells_it_the_last_life_counts_and_a_session_taken_away_stays_away(
    steps: list[Step],
) -> None:
    """Three processes, or their followers, and one session; also what is away is appended to."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        processes = [AnchorFiles(folder) for _ in range(3)]
        sequence, is_away = 0, False
        expected: tuple[int, bytes] | None = None
        for number, (what, who, many) in enumerate(steps, 1):
            found = bytes([number]) * 32
            if what == "append":
                sequence += 1
                processes[who].look()
                processes[who].note("ses_1", sequence, found)
                expected = expected if is_away else (sequence, found)
            elif what == "delete":
                processes[who].leaving("ses_1", sequence, found)
                taken_away(processes[who], "ses_1")
                is_away, expected = True, (TAKEN_AWAY, bytes(32))
            elif what == "restore":
                sequence, is_away, expected = many, False, (many, found if many else bytes(32))
                restored(processes[who], "ses_1", many, found)
            else:
                processes[who].close()
                processes[who] = AnchorFiles(folder)
            anchor = read_anchors(folder).get("ses_1")
            assert (anchor and anchor[:2]) == expected
        for one in processes:
            one.close()
        anchor = read_anchors(folder).get("ses_1")
        assert (anchor and anchor[:2]) == expected


def test_what_was_committed_in_the_life_before_is_not_told_of_the_new_one(folder: Path) -> None:
    here, there = AnchorFiles(folder), AnchorFiles(folder)
    here.note("ses_x", 49, HASH)
    here.look()  # then it commits event 50, and waits
    there.leaving("ses_x", 50, HASH)
    taken_away(there, "ses_x")
    restored(there, "ses_x", 10, HASH)
    here.note("ses_x", 50, HASH)
    assert read_anchors(folder)["ses_x"] == Anchor(10, HASH, 1)
    here.note("ses_x", 11, HASH)
    assert read_anchors(folder)["ses_x"] == Anchor(11, HASH, 1)
    here.close()
    there.close()


@pytest.mark.parametrize("life", [0, 1, 7])
def test_one_that_is_about_to_go_is_not_missed_until_it_goes_on(folder: Path, life: int) -> None:
    here = AnchorFiles(folder)
    for _ in range(life):
        here.restoring("ses_1")
    here.note("ses_1", 5, HASH)
    assert is_missed(read_anchors(folder)["ses_1"])
    here.leaving("ses_1", 5, HASH)
    other = AnchorFiles(folder)
    other.note("ses_1", 5, HASH)  # the same again is nothing new
    assert read_anchors(folder)["ses_1"] == Anchor(5, HASH, life, leaving=True)
    assert not is_missed(read_anchors(folder)["ses_1"])
    here.note("ses_1", 6, HASH)
    assert read_anchors(folder)["ses_1"] == Anchor(6, HASH, life)
    taken_away(here, "ses_1")
    here.close()
    other.close()
    assert read_anchors(folder)["ses_1"] == Anchor(TAKEN_AWAY, bytes(32), life)
