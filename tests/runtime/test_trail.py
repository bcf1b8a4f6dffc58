"""What a call leaves in a journal that fails on the way: one end, whatever was heard of it."""

from collections.abc import AsyncGenerator

import msgspec
import pytest
from runtime.shaky_journal import Shaky, When
from support import make_call, make_judge, make_tool

from holdfast.contract.envelope import Envelope
from holdfast.contract.events import ApprovalAnswered, CallSettled, Payload, SessionCreated
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import EventQuery, Journal, JournalUnavailable
from holdfast.contract.ports import Answer
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.tool import Tool
from holdfast.envelope.redact import Redactor
from holdfast.runtime.abort import Abort
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.pipeline import Parts, Pipeline
from holdfast.runtime.session_log import SessionLog
from holdfast.testing.fake_journal import FakeJournal
from holdfast.testing.fakes import FakeApprover, FakeClock, FakeProgress, FakeSidecars

pytestmark = pytest.mark.anyio
YES = Answer(allowed=True, by="ada")
SESSION = "ses_test"
STEPS = ["question", "answer", "intent", "end"]
"""What is appended, one after the other."""


@pytest.fixture
async def journal() -> AsyncGenerator[Shaky]:
    shaky = Shaky(FakeClock())
    yield shaky
    await FakeJournal.close(shaky)


class Settling:
    """Settles calls of one tool that asks, into a journal."""

    def __init__(self, journal: Journal) -> None:
        async def opening() -> Journal:
            return journal

        clock = FakeClock()
        self.ran: list[object] = []
        log = SessionLog(opening, SessionCreated(), SESSION, "me", clock)
        self._pipeline = Pipeline(
            Parts(
                catalog=Catalog([self._asking()]),
                judge=make_judge(standing={"probe": ""}),
                approver=FakeApprover([YES] * 3),
                clock=clock,
                ids=TimeIds(clock),
                sidecars=FakeSidecars(),
                redactor=Redactor(),
                session=SessionFacts(id=SESSION),
                progress=FakeProgress(),
                log=log,
            )
        )

    def _asking(self) -> Tool:
        tool = make_tool(lambda values, _runtime: self.ran.append(values))
        return msgspec.structs.replace(tool, permission_policy="always_ask")

    async def __call__(self) -> Envelope:
        return await self._pipeline.settle(make_call(), Abort())


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS[:3])
async def test_a_step_that_is_not_known_to_be_written_stops_the_call_and_ends_it(
    journal: Shaky, step: str, when: When
) -> None:
    settling = Settling(journal)
    never: list[When] = ["never"] * STEPS.index(step)
    journal.fails["append"] = [*never, when]
    envelope = await settling()
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.UNAVAILABLE
    assert (envelope.warnings, settling.ran) == ((), [])
    await _check_one_end(journal)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_an_end_that_is_not_known_to_be_written_is_told(journal: Shaky, when: When) -> None:
    settling = Settling(journal)
    journal.fails["append"] = ["never", "never", "never", when]
    envelope = await settling()
    assert envelope.ok
    assert "could not be written down" in envelope.warnings[-1]
    assert len(settling.ran) == 1
    open_calls = (await journal.session(SESSION)).state.calls
    assert len(open_calls) == (1 if when == "before" else 0)


async def test_a_first_answer_that_cannot_be_read_runs_nothing_and_ends_the_call(
    journal: Shaky, monkeypatch: pytest.MonkeyPatch
) -> None:
    settling = Settling(journal)
    journal.intruder = lambda said: said if isinstance(said, ApprovalAnswered) else None

    async def unreadable(_session_id: str, _query: EventQuery) -> object:
        raise JournalUnavailable("it cannot be read")

    monkeypatch.setattr(journal, "find", unreadable)
    envelope = await settling()
    assert envelope.failure is not None
    assert "it cannot be read" in envelope.failure.message
    assert settling.ran == []
    monkeypatch.undo()
    await _check_one_end(journal)


async def test_a_call_that_somebody_else_ended_meanwhile_does_not_run(journal: Shaky) -> None:
    settling = Settling(journal)

    def ending(said: Payload) -> Payload | None:
        if not isinstance(said, ApprovalAnswered):
            return None
        return CallSettled(call_id=said.call_id, tool="probe", envelope=msgspec.Raw(b"{}"))

    journal.intruder = ending
    envelope = await settling()
    assert envelope.failure is not None
    assert "has its answer already" in envelope.failure.message
    assert settling.ran == []
    await _check_one_end(journal)


async def _check_one_end(journal: Journal) -> None:
    assert (await journal.session(SESSION)).state.calls == {}
    events = await journal.events(SESSION)
    assert [event.type for event in events].count("call.settled") == 1
