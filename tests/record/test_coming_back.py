"""A session that comes back is found, unless it was restored on purpose."""

import sqlite3
from pathlib import Path

import pytest
from record.verified_stores import changed, cut_off, looked_at, opened, problems, written

from holdfast.contract.events import UserMessage
from holdfast.contract.journal import LeaseHeld
from holdfast.record.anchors import AnchorFiles, NoAnchors
from holdfast.record.verifying import Problem, Verified

pytestmark = pytest.mark.anyio


@pytest.fixture
async def root(tmp_path: Path) -> Path:
    return await written(tmp_path)


def copied(root: Path, name: str) -> None:
    copy = sqlite3.connect(root / name)
    original = sqlite3.connect(root / "h.db")
    original.backup(copy)
    original.close()
    copy.close()


def put_back(root: Path, name: str) -> None:
    for path in root.glob("h.db*"):
        path.unlink()
    (root / name).rename(root / "h.db")


BACK_AGAIN = Problem("ses_1", None, "back again", "it had been taken away")


async def test_a_session_that_was_taken_away_on_purpose_is_not_missed_but_may_not_return(
    root: Path,
) -> None:
    copied(root, "copy.db")
    store = opened(root)
    await store.archive.delete("ses_1")
    await store.journal.close()
    assert problems(root) == []
    put_back(root, "copy.db")
    assert problems(root) == [BACK_AGAIN]
    store = opened(root)
    await store.journal.append("ses_1", [UserMessage(message="it goes on")])
    await store.journal.close()
    assert problems(root) == [BACK_AGAIN]


async def test_whatever_ends_a_deletion_or_an_import_half_way_raises_no_alarm(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Committed, and not told any more: as if the process were killed there."""
    store = opened(root)
    events = await store.journal.events("ses_1")
    with monkeypatch.context() as patched:
        patched.setattr(AnchorFiles, "note", NoAnchors.note)
        await store.archive.delete("ses_1")
    assert problems(root) == []
    with monkeypatch.context() as patched:
        patched.setattr(AnchorFiles, "note", NoAnchors.note)
        await store.archive.restore("ses_1", events)
    assert problems(root) == []
    await store.journal.append("ses_1", [UserMessage(message="it goes on")])
    await store.journal.close()
    cut_off(root, "ses_1", 3, len(events) + 1)
    assert "cut off" in [one.trouble for one in problems(root)]


async def test_a_deletion_that_is_refused_leaves_a_session_that_is_missed(root: Path) -> None:
    store = opened(root)
    await store.journal.lease("ses_1", "ada", 60)
    with pytest.raises(LeaseHeld):
        await store.archive.delete("ses_1")
    await store.journal.close()
    changed(root, "DELETE FROM chat_sessions WHERE id = 'ses_1'")
    assert "gone" in [one.trouble for one in problems(root)]


async def test_a_session_that_was_restored_on_purpose_is_as_it_was_written(root: Path) -> None:
    """However often, in this process or another one; and what comes back without that is found."""
    for _ in range(2):
        store = opened(root)
        events = await store.journal.events("ses_1")
        await store.archive.delete("ses_1")
        await store.archive.restore("ses_1", events[:4])
        assert problems(root) == []
        await store.journal.append("ses_1", [UserMessage(message="it goes on")])
        await store.journal.close()
        assert looked_at(root)[0] == Verified("ses_1", 5, 5, (), imported=True)
    copied(root, "copy.db")
    store = opened(root)
    await store.archive.delete("ses_1")
    await store.journal.close()
    assert problems(root) == []
    put_back(root, "copy.db")
    await opened(root).journal.close()
    assert problems(root) == [BACK_AGAIN]


async def test_a_session_that_was_restored_without_events_is_as_it_was_written(root: Path) -> None:
    store = opened(root)
    await store.archive.delete("ses_1")
    await store.archive.restore("ses_1", ())
    await store.journal.close()
    assert looked_at(root)[0] == Verified("ses_1", 0, 0, (), imported=True)


async def test_a_session_that_was_lost_and_restored_is_as_it_was_written(root: Path) -> None:
    store = opened(root)
    events = await store.journal.events("ses_1")
    await store.journal.close()
    for path in root.glob("h.db*"):
        path.unlink()
    store = opened(root)
    await store.archive.restore("ses_1", events[:3])
    await store.journal.close()
    assert [(one.session_id, one.trouble) for one in problems(root)] == [("ses_2", "gone")]


async def test_what_another_process_adds_to_a_restored_session_is_missed_when_it_is_cut_off(
    root: Path,
) -> None:
    other, store = opened(root), opened(root)
    await other.journal.append("ses_1", [UserMessage(message="before")])
    events = await store.journal.events("ses_1")
    await store.archive.delete("ses_1")
    await store.archive.restore("ses_1", events[:2])
    await other.journal.append("ses_1", [UserMessage(message="after")])
    await other.journal.close()
    await store.journal.close()
    assert looked_at(root)[0] == Verified("ses_1", 3, 3, (), imported=True)
    cut_off(root, "ses_1", 2, 3)
    assert "it ends with event 2, and had come to event 3" in {one.told for one in problems(root)}
