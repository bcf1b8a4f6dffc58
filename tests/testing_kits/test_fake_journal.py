"""The journal in memory behaves as the one in a file: the kit, searching, several at once."""

from pathlib import Path

import pytest
from msgspec import Raw

from holdfast.contract.events import CallSettled, SessionCreated, UserMessage
from holdfast.contract.journal import Journal, JournalUnavailable, NotFitting
from holdfast.record.codec import Chain
from holdfast.record.sqlite.opening import open_sqlite
from holdfast.testing.fake_journal import FakeJournal
from holdfast.testing.fakes import FakeClock, FakeIds
from holdfast.testing.journal_kit import check_journal

pytestmark = pytest.mark.anyio


async def test_it_passes_the_kit() -> None:
    journal = FakeJournal()
    try:
        await check_journal(journal)
    finally:
        await journal.close()


async def test_a_closed_one_is_gone() -> None:
    journal = FakeJournal()
    await journal.create("ses_1", [SessionCreated()])
    await journal.close()
    with pytest.raises(JournalUnavailable, match="the journal is closed"):
        await journal.append("ses_1", [UserMessage(message="late")])
    with pytest.raises(JournalUnavailable, match="the journal is closed"):
        await journal.events("ses_1")


async def test_a_refused_work_leaves_nothing_and_is_told() -> None:
    journal = FakeJournal()
    await journal.create("ses_1", [SessionCreated()])
    stray = CallSettled(call_id="cal_1", tool="t", envelope=Raw(b"{}"))
    with pytest.raises(NotFitting):
        await journal.append("ses_1", [UserMessage(message="a"), stray])
    assert len(await journal.events("ses_1")) == 1
    await journal.close()


async def _told(journal: Journal) -> list[tuple[str, bytes]]:
    await journal.create("ses_1", [SessionCreated(workspace="/ws"), UserMessage(message="hi")])
    await journal.append("ses_1", [UserMessage(message="ho")], wake_id="wak_1")
    return [(event.id, event.hash) for event in await journal.events("ses_1")]


async def test_it_keeps_what_a_file_keeps_byte_for_byte(tmp_path: Path) -> None:
    fake = FakeJournal(FakeClock(), FakeIds())
    real = open_sqlite(tmp_path / "db", Chain(bytes(32)), FakeClock(), FakeIds()).journal
    assert await _told(fake) == await _told(real)
    await fake.close()
    await real.close()


async def test_its_archive_finds_words_and_conversations() -> None:
    journal = FakeJournal()
    said = "Straße und İstanbul, sehr weit weg von hier"
    await journal.create("ses_1", [SessionCreated(), UserMessage(message=said)])
    await journal.create("ses_2", [SessionCreated(), UserMessage(message="weit und breit")])
    archive = journal.archive
    assert [one.session_id for one in await archive.search("WEIT")] == ["ses_2", "ses_1"]
    (found,) = await archive.search("weit weg")
    assert (found.session_id, found.sequence, found.type) == ("ses_1", 2, "user.message")
    assert found.excerpt == "Straße und İstanbul, sehr [weit] [weg] von hier"
    assert await archive.search("weit", session_id="ses_2", limit=1)
    assert await archive.search("wei") == ()
    assert await archive.search("?!") == ()
    assert (await archive.search("İstanbul"))[0].excerpt
    (message,) = await archive.messages("ses_1")
    assert message.parts[0].data == {"type": "text", "text": said}
    assert await archive.called("last") == "ses_2"
    await journal.close()
