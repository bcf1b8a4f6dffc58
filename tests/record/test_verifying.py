"""Whatever is changed, cut off, moved or taken away in the store, the ledger misses it."""

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from record.store_places import at
from record.verified_stores import (
    CHAIN,
    EVENTS,
    changed,
    cut_off,
    looked_at,
    opened,
    opened_beside,
    problems,
    written,
)
from this_tree import this_tree

from holdfast.contract.events import CallAsked, CallIntended, SessionCreated, UserMessage
from holdfast.contract.journal import JournalUnavailable
from holdfast.record.anchor_form import anchor_name
from holdfast.record.anchors import AnchorFiles, read_anchors, taken_away
from holdfast.record.codec import GENESIS, Chain, Unwritten, stored
from holdfast.record.decisions import decisions
from holdfast.record.sqlite.opening import SqliteReader, open_sqlite
from holdfast.record.verifying import Problem, Verified
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

pytestmark = pytest.mark.anyio


@pytest.fixture
async def root(tmp_path: Path) -> Path:
    return await written(tmp_path)


async def test_what_was_written_is_as_it_was_written(root: Path) -> None:
    assert looked_at(root) == [
        Verified("ses_1", EVENTS, EVENTS, ()),
        Verified("ses_2", EVENTS, EVENTS, ()),
    ]
    assert [one.session_id for one in looked_at(root, only="ses_2")] == ["ses_2"]


@pytest.mark.parametrize(
    "column",
    [
        "id = 'evt_x'",
        "micros = micros + 1",
        "micros = micros + 0.5",
        "micros = 9e999",
        "wake_id = 'wak_1'",
        "type = 'user.interrupt'",
        "version = 2",
        "body = replace(CAST(body AS TEXT), 'ses_1 2', 'ses_1 9')",
        "body = CAST(body AS TEXT)",
        "wake_id = x'00'",
        "hash = 'text'",
        "hash = zeroblob(32)",
        "previous = zeroblob(32)",
    ],
)
async def test_an_edited_column_is_found_where_it_is(root: Path, column: str) -> None:
    changed(root, f"UPDATE events SET {column} WHERE {at('ses_1', 4)}")
    found = problems(root)
    assert {problem.session_id for problem in found} == {"ses_1"}
    assert 4 in {problem.sequence for problem in found}


@pytest.mark.parametrize(
    ("edited", "told"),
    [
        (range(2, 11), [*range(2, 11)]),
        (range(2, 12), [2]),
        ([*range(2, 12), *range(14, 25)], [2, 14]),
        ([2, 4, *range(6, 25)], [2, 4, 6]),
    ],
)
async def test_many_edited_ones_in_a_row_are_told_as_one(
    tmp_path: Path, edited: Sequence[int], told: list[int]
) -> None:
    store = opened(tmp_path)
    words = [UserMessage(message="hello")] * 24
    await store.journal.create("ses_1", [SessionCreated(), *words])
    await store.journal.close()
    changed(tmp_path, *(f"UPDATE events SET micros = 1 WHERE {at('ses_1', one)}" for one in edited))
    found = [one for one in problems(tmp_path) if one.trouble == "edited"]
    assert [one.sequence for one in found] == told
    behind = sum(int(one.told.split()[2]) for one in found if one.told.startswith("it and"))
    assert len(found) + behind == len(edited)


async def test_an_edited_event_is_found_also_when_its_links_are_mended(root: Path) -> None:
    """Somebody without the key can make a chain, but not this one."""
    forger = Chain(b"x" * 32)
    connection = sqlite3.connect(root / "h.db")
    rows = connection.execute(
        "SELECT sequence, id, micros FROM session_events"
        " WHERE session_id = 'ses_1' ORDER BY sequence"
    ).fetchall()
    previous = GENESIS
    for sequence, event_id, micros in rows:
        forged = stored(
            Unwritten(event_id, micros, None, UserMessage(message="I allowed it")),
            "ses_1",
            sequence,
            previous,
            forger,
        )
        connection.execute(
            f"UPDATE events SET type = ?, body = ?, previous = ?, hash = ?"
            f" WHERE {at('ses_1', sequence)}",
            (forged.type, forged.body, forged.previous, forged.hash),
        )
        previous = forged.hash
    connection.execute("UPDATE chat_sessions SET hash = ? WHERE id = 'ses_1'", (previous,))
    connection.commit()
    connection.close()
    found = [problem for problem in problems(root) if problem.trouble == "edited"]
    assert {problem.sequence for problem in found} == set(range(1, EVENTS + 1))


async def test_a_dropped_event_is_missed(root: Path) -> None:
    changed(root, f"DELETE FROM events WHERE {at('ses_1', 3)}")
    assert Problem("ses_1", 4, "dropped", "after event 2 comes event 4") in problems(root)
    assert "rows" not in {problem.trouble for problem in problems(root)}  # they follow from it


@pytest.mark.parametrize("left", [1, EVENTS - 1])
async def test_a_tail_that_was_cut_off_is_missed_also_when_the_head_agrees(
    root: Path, left: int
) -> None:
    cut_off(root, "ses_1", left, EVENTS)
    told = f"it ends with event {left}, and had come to event {EVENTS}"
    assert Problem("ses_1", left, "cut off", told) in problems(root)


REWRITTEN = Problem("ses_1", EVENTS, "edited", "it is not the event that was anchored")


async def written_again(root: Path) -> None:
    """The last event, by somebody who has the key and not the anchors."""
    cut_off(root, "ses_1", EVENTS - 1, EVENTS)
    store = opened_beside(root)
    await store.archive.rebuild("ses_1", repair=True)
    await store.journal.append("ses_1", [UserMessage(message="something else")])
    await store.journal.close()


async def test_a_last_event_that_is_genuine_and_another_one_is_found(root: Path) -> None:
    await written_again(root)
    assert problems(root) == [REWRITTEN]


async def _cut_off(root: Path) -> None:
    cut_off(root, "ses_1", 1, EVENTS)
    store = opened_beside(root)
    await store.archive.rebuild("ses_1", repair=True)
    await store.journal.close()


async def _back_again(root: Path) -> None:
    anchors = AnchorFiles(root / "anchors")
    taken_away(anchors, "ses_1")
    anchors.close()


@pytest.mark.parametrize("happens", [written_again, _cut_off, _back_again])
async def test_rows_are_compared_also_where_the_anchor_is_not_reached(
    root: Path, happens: Callable[[Path], Awaitable[None]]
) -> None:
    await happens(root)
    (before,) = problems(root)
    changed(root, "UPDATE chat_sessions SET state_json = '{}' WHERE id = 'ses_1'")
    first, *rows = problems(root)
    assert first == before
    assert [(one.session_id, one.trouble) for one in rows] == [("ses_1", "rows")]


async def test_events_that_changed_places_are_found(root: Path) -> None:
    changed(
        root,
        f"UPDATE events SET place = place + 96 WHERE {at('ses_1', 3)}",
        f"UPDATE events SET place = place - 1 WHERE {at('ses_1', 4)}",
        f"UPDATE events SET place = place - 95 WHERE {at('ses_1', 99)}",
    )
    assert {problem.trouble for problem in problems(root)} >= {"edited", "out of order"}


async def test_an_event_of_another_session_does_not_fit(root: Path) -> None:
    changed(
        root,
        f"DELETE FROM events WHERE {at('ses_1', 3)}",
        f"UPDATE events SET {at('ses_1', 3)} WHERE {at('ses_2', 3)}",
    )
    found = {(problem.session_id, problem.sequence) for problem in problems(root)}
    assert {("ses_1", 3), ("ses_2", 4)} <= found


async def test_a_session_that_vanished_is_missed(root: Path) -> None:
    changed(
        root,
        "DELETE FROM chat_parts WHERE session_id = 'ses_1'",
        "DELETE FROM chat_messages WHERE session_id = 'ses_1'",
        *(f"DELETE FROM events WHERE {at('ses_1', one)}" for one in range(1, EVENTS + 1)),
        "DELETE FROM chat_sessions WHERE id = 'ses_1'",
    )
    (problem,) = problems(root)
    assert (problem.session_id, problem.trouble) == ("ses_1", "gone")


LONG_IDS = ("s" * 96, "s" * 96 + "a", "s" * 96 + "b", "ü" * 60, "nul", "nul\0", "a\0b")


async def test_sessions_with_long_and_strange_ids_are_vouched_for_each_on_its_own(
    tmp_path: Path,
) -> None:
    store = opened(tmp_path)
    for number, name in enumerate(LONG_IDS):
        said = [UserMessage(message=str(one)) for one in range(number)]
        await store.journal.create(name, [SessionCreated(), *said])
    await store.journal.close()
    found = {one.session_id: one for one in looked_at(tmp_path)}
    assert found == {
        name: Verified(name, number, number, ()) for number, name in enumerate(LONG_IDS, 1)
    }
    for name in LONG_IDS:
        assert looked_at(tmp_path, only=name) == [found[name]]


async def test_a_session_with_a_long_id_is_missed_under_the_id_that_was_asked_for(
    tmp_path: Path,
) -> None:
    store = opened(tmp_path)
    for name in LONG_IDS[:2]:
        await store.journal.create(name, [SessionCreated()])
    await store.journal.close()
    changed(
        tmp_path,
        f"DELETE FROM events WHERE {at(LONG_IDS[1], 1)}",
        f"DELETE FROM chat_sessions WHERE id = '{LONG_IDS[1]}'",
    )
    (problem,) = problems(tmp_path)
    assert (problem.session_id, problem.trouble) == (anchor_name(LONG_IDS[1]), "gone")
    ((_, _, _, (asked,), _),) = looked_at(tmp_path, only=LONG_IDS[1])
    assert asked == problem._replace(session_id=LONG_IDS[1])
    store = opened(tmp_path)
    await store.archive.delete(LONG_IDS[0])
    await store.journal.close()
    assert problems(tmp_path) == [problem]
    assert looked_at(tmp_path, only=LONG_IDS[0]) == looked_at(tmp_path, only="s") == []


async def test_rows_beside_the_journal_that_were_edited_are_found(root: Path) -> None:
    changed(root, "UPDATE chat_parts SET data_json = '{}' WHERE session_id = 'ses_2'")
    assert {problem.trouble for problem in problems(root)} == {"rows"}
    assert {problem.session_id for problem in problems(root)} == {"ses_2"}


async def test_another_key_vouches_for_nothing(root: Path) -> None:
    found = problems(root, Chain(b"z" * 32))
    assert len([problem for problem in found if problem.trouble == "edited"]) == 2 * EVENTS


WRITER = """
import sys
from pathlib import Path
import anyio
from record.verified_stores import opened
from holdfast.contract.events import SessionCreated, UserMessage

async def main(root):
    store = opened(Path(root))
    await store.journal.create("ses_3", [SessionCreated()])
    for number in range(5):
        await store.journal.append("ses_3", [UserMessage(message=str(number))])
    print("written", flush=True)
    sys.stdin.readline()

anyio.run(main, sys.argv[1])
"""


def _killed_writer(root: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=this_tree(),
    )
    assert writer.stdout is not None
    assert writer.stdin is not None
    assert writer.stdout.readline() == b"written\n"
    assert read_anchors(root / "anchors")["ses_3"].sequence == 6
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdin.close()
    writer.stdout.close()


async def test_what_a_killed_process_wrote_is_anchored_to_its_last_event(root: Path) -> None:
    _killed_writer(root)
    await opened(root).journal.close()  # adds up what was left
    assert [path.name for path in (root / "anchors").iterdir() if path.suffix == ".live"] == []
    assert looked_at(root)[-1] == Verified("ses_3", 6, 6, ())


def _garbled(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def _shortened(content: bytes) -> bytes:
    return content[:-1]


@pytest.mark.parametrize("damage", [_garbled, _shortened])
async def test_a_place_that_was_half_written_is_passed_over(
    root: Path, damage: Callable[[bytes], bytes]
) -> None:
    total = root / "anchors" / "sum"
    total.write_bytes(damage(total.read_bytes()))
    assert list(read_anchors(root / "anchors")) == ["ses_1"]


async def test_many_sessions_are_anchored(tmp_path: Path) -> None:
    anchors = AnchorFiles(tmp_path / "a")
    for number in range(1000):
        anchors.note(f"ses_{number:04}", number + 1, bytes([number % 256]) * 32)
        anchors.note("ses_0000", number + 1, b"h" * 32)
    anchors.close()
    found = read_anchors(tmp_path / "a")
    assert len(found) == 1000
    assert found["ses_0999"].sequence == found["ses_0000"].sequence == 1000
    assert (tmp_path / "a" / "sum").stat().st_mode & 0o777 == 0o600
    assert read_anchors(tmp_path / "nowhere") == {}


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("", "utf-8")
    with pytest.raises(JournalUnavailable, match="File exists"):
        AnchorFiles(tmp_path / "a")


async def test_decisions_are_told_in_order(tmp_path: Path) -> None:
    clock = SystemClock()
    store = open_sqlite(tmp_path / "h.db", CHAIN, clock, TimeIds(clock))
    asked = CallAsked(call_id="cal_1", tool="bash", arguments="{}")
    intended = CallIntended(call_id="cal_1", tool="bash", arguments_hash="ab", grounds="a rule")
    await store.journal.create("ses_1", [SessionCreated(), asked, intended])
    await store.journal.create("ses_2", [SessionCreated()])
    await store.journal.close()
    reader = SqliteReader(tmp_path / "h.db")
    (one,) = decisions(reader)
    assert (one.session_id, one.decision, one.by, one.arguments_hash, one.tool) == (
        *("ses_1", "allowed", "policy", "ab", "bash"),
    )
    assert list(decisions(reader, "ses_2")) == []
    reader.close()
