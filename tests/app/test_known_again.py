"""What a session knew is read from its journal, however long or damaged that is."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest
from msgspec import Raw
from tool_kit import opened

from holdfast import tool
from holdfast.app.holdfast import Holdfast
from holdfast.app.restoring import restore
from holdfast.contract.events import CallAsked, CallSettled, Event, Payload, SessionCreated
from holdfast.contract.journal import MOST_EVENTS, EventQuery, JournalUnavailable
from holdfast.testing.fake_journal import FakeJournal
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio

WORKED = b'{"ok":true}'
UNREADABLE = "the to-do list of session ses_1 cannot be read from its journal"


def numbered(number: int) -> object:
    def body() -> None:
        """Be one of many."""

    body.__name__ = f"tool_{number}"
    return tool(body)


TOOLS = [numbered(number) for number in range(30)]
NAMES = [f"tool_{number}" for number in range(30)]


class Odd(FakeJournal):
    """Gives some pages again and again, as where the id of an event is damaged."""

    stuck = ""
    looks = 0

    async def find(self, session_id: str, query: EventQuery, /) -> tuple[Event, ...]:
        self.looks += 1
        assert self.looks < 20, "it looks for ever"
        if self.stuck == "away":
            raise JournalUnavailable("the disk is away")
        if self.stuck in query.types:
            query = EventQuery(types=query.types)
        return await super().find(session_id, query)


@pytest.fixture
async def journal() -> AsyncGenerator[Odd]:
    made = Odd(FakeClock())
    await made.create("ses_1", [SessionCreated()])
    yield made
    await made.close()


@pytest.fixture
async def hf(tmp_path: Path) -> AsyncGenerator[Holdfast]:
    """A session whose tools are to be searched for."""
    (tmp_path / "ws").mkdir()
    async with opened(tmp_path / "ws", "locked", tools=TOOLS, on_demand=NAMES) as made:
        yield made


async def restored(hf: Holdfast, journal: Odd, names: Sequence[str] = ()) -> list[str]:
    """The to-dos that were found again."""
    own, prepare = hf._own, hf._pipeline.prepare  # pyright: ignore[reportPrivateUsage] - what is filled
    await restore(journal, "ses_1", own, names or ["todo", "tool_search", "read"], prepare)
    return [one.content for one in hf.todos]


def found(hf: Holdfast) -> list[str]:
    return [one.name for one in hf.offered if one.name in NAMES]


def call(number: int, name: str, arguments: str = "{}", said: bytes = WORKED) -> list[Payload]:
    call_id = f"cal_{number}"
    asked = CallAsked(call_id=call_id, tool=name, arguments=arguments)
    return [asked, CallSettled(call_id=call_id, tool=name, envelope=Raw(said))]


def todo(number: int, content: str, said: bytes = WORKED) -> list[Payload]:
    item = f'{{"content":"{content}","active_form":"x","status":"pending"}}'
    return call(number, "todo", f'{{"todos":[{item}]}}', said)


def search(number: int, result: bytes) -> list[Payload]:
    return call(number, "tool_search", '{"query":"x"}', b'{"ok":true,"result":%s}' % result)


def matches(*names: str) -> bytes:
    return b'{"matches":[%s]}' % b",".join(b'{"id":"%s"}' % name.encode() for name in names)


async def test_the_last_list_that_worked_and_all_that_was_found_are_known_again(
    hf: Holdfast, journal: Odd
) -> None:
    told = [
        *todo(1, "old"),
        *search(2, matches("tool_7", "tool_3")),
        *todo(3, "kept"),
        *todo(4, "failed", b'{"ok":false}'),
        *search(7, b'{"matches":"none"}'),
        *search(8, b"[]"),
        *search(9, matches("tool_3", "tool_5", "gone")),
    ]
    await journal.append("ses_1", told)
    assert await restored(hf, journal) == ["kept"]
    assert found(hf) == ["tool_7", "tool_3", "tool_5"]


async def test_a_session_without_these_tools_is_not_read_at_all(hf: Holdfast, journal: Odd) -> None:
    await journal.append("ses_1", todo(1, "kept"))
    assert await restored(hf, journal, ["read", "write"]) == []
    assert journal.looks == 0


async def test_a_tool_that_the_session_has_no_more_gives_nothing_back(
    hf: Holdfast, journal: Odd
) -> None:
    await journal.append("ses_1", [*todo(1, "kept"), *search(2, matches("tool_1"))])
    assert await restored(hf, journal, ["tool_search"]) == []
    assert found(hf) == ["tool_1"]


async def test_a_journal_that_cannot_be_read_is_told_and_nothing_is_known(
    hf: Holdfast, journal: Odd, caplog: pytest.LogCaptureFixture
) -> None:
    await journal.append("ses_1", [*todo(1, "kept"), *search(2, matches("tool_1"))])
    journal.stuck = "away"
    assert await restored(hf, journal) == []
    assert found(hf) == []
    assert "what session ses_1 knew cannot be read: the disk is away" in caplog.text


async def test_what_is_more_than_a_page_away_is_found(hf: Holdfast, journal: Odd) -> None:
    await journal.append("ses_1", [*search(1, matches("tool_1")), *todo(2, "kept")])
    between = [one for number in range(3, MOST_EVENTS + 9) for one in call(number, "read")]
    await journal.append("ses_1", between)
    await journal.append("ses_1", search(2_000, matches("tool_2")))
    assert await restored(hf, journal) == ["kept"]
    assert found(hf) == ["tool_1", "tool_2"]


@pytest.mark.parametrize(("stuck", "told"), [("call.settled", False), ("call.asked", True)])
async def test_a_page_that_comes_again_and_again_is_the_last_one(
    hf: Holdfast, journal: Odd, caplog: pytest.LogCaptureFixture, stuck: str, told: bool
) -> None:
    await journal.append("ses_1", todo(1, "kept"))
    between = [one for number in range(3, MOST_EVENTS + 9) for one in call(number, "read")]
    await journal.append("ses_1", between)
    journal.stuck = stuck
    assert await restored(hf, journal) == []
    assert (UNREADABLE in caplog.text) is told


async def test_arguments_that_are_none_any_more_are_told(
    hf: Holdfast, journal: Odd, caplog: pytest.LogCaptureFixture
) -> None:
    await journal.append("ses_1", [*todo(1, "old"), *call(2, "todo", '{"todos":[{"was":1}]}')])
    assert await restored(hf, journal) == []
    assert UNREADABLE in caplog.text
