"""Calls that can change nothing: written down at once if they end at once, and never half."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine

import anyio
import msgspec
import pytest
from runtime.shaky_journal import Shaky, When
from support import OPEN_OBJECT, make_call, make_judge

from holdfast.contract.envelope import Envelope
from holdfast.contract.events import SessionCreated
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import Journal
from holdfast.contract.ports import Answer
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.tool import Body, OutputBound, RunStyle, Tool
from holdfast.envelope.redact import Redactor
from holdfast.runtime.abort import Abort
from holdfast.runtime.catalog import Catalog
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.pipeline import Parts, Pipeline
from holdfast.runtime.session_log import SessionLog
from holdfast.testing.fake_journal import FakeJournal
from holdfast.testing.fakes import FakeApprover, FakeClock, FakeProgress, FakeSidecars

pytestmark = pytest.mark.anyio
SESSION = "ses_test"
WHOLE = ["session.created", "call.asked", "call.intended", "call.settled"]


@pytest.fixture
async def journal() -> AsyncGenerator[Shaky]:
    shaky = Shaky(FakeClock())
    yield shaky
    await FakeJournal.close(shaky)


def pure(run: Callable[[], object], style: RunStyle = "async") -> Tool:
    body = Body(style=style, invoke=lambda _values, _runtime: run(), only_computes=True)
    return Tool(
        name="probe",
        description="A tool of the tests.",
        input_schema=OPEN_OBJECT,
        requires=NOTHING_REQUIRED,
        body=body,
    )


def settling(journal: Journal, tool: Tool) -> Callable[[], Coroutine[object, object, Envelope]]:
    async def opening() -> Journal:
        return journal

    clock = FakeClock()
    parts = Parts(
        catalog=Catalog([tool]),
        judge=make_judge(standing={"probe": ""}),
        approver=FakeApprover([Answer(allowed=True, by="ada")]),
        clock=clock,
        ids=TimeIds(clock),
        sidecars=FakeSidecars(),
        redactor=Redactor(),
        session=SessionFacts(id=SESSION),
        progress=FakeProgress(),
        log=SessionLog(opening, SessionCreated(), SESSION, "me", clock),
    )
    pipeline = Pipeline(parts)
    return lambda: pipeline.settle(make_call(), Abort())


async def kinds(journal: Journal) -> list[str]:
    return [event.type for event in await journal.events(SESSION)]


async def five() -> int:
    return 5


async def test_a_pure_call_that_ends_at_once_is_one_append(journal: Shaky) -> None:
    envelope = await settling(journal, pure(five))()
    assert (envelope.result, envelope.warnings) == (5, ())
    assert journal.asked.count("append") == 1
    assert await kinds(journal) == WHOLE
    assert (await journal.session(SESSION)).state.calls == {}


async def test_one_in_place_is_one_append_too(journal: Shaky) -> None:
    assert (await settling(journal, pure(lambda: 5, "inline"))()).result == 5
    assert journal.asked.count("append") == 1
    assert await kinds(journal) == WHOLE


async def test_what_fails_at_once_is_one_append_too(journal: Shaky) -> None:
    async def fails() -> None:
        raise ValueError("no")

    envelope = await settling(journal, pure(fails))()
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.EXECUTION_ERROR
    assert journal.asked.count("append") == 1
    assert await kinds(journal) == WHOLE


@pytest.mark.parametrize("style", ["async", "thread"])
async def test_before_anything_else_may_happen_the_intent_stands(
    journal: Shaky, style: RunStyle
) -> None:
    seen: list[list[str]] = []

    async def looks() -> None:
        seen.append(await kinds(journal))

    tool = pure(looks, style)
    if style == "async":
        tool = msgspec.structs.replace(tool, read_only=False)
    assert (await settling(journal, tool)()).ok
    assert seen == [WHOLE[:3]]
    assert journal.asked.count("append") == 2


async def test_while_a_pure_call_waits_others_see_that_it_runs(journal: Shaky) -> None:
    seen: list[list[str]] = []

    async def waits() -> str:
        await anyio.lowlevel.checkpoint()
        seen.append(await kinds(journal))
        return "done"

    assert (await settling(journal, pure(waits))()).ok
    assert seen == [WHOLE[:3]]
    assert await kinds(journal) == WHOLE
    assert journal.asked.count("append") == 2


async def test_a_call_that_a_person_was_asked_about_has_its_intent_before_it_runs(
    journal: Shaky,
) -> None:
    tool = msgspec.structs.replace(pure(five), permission_policy="always_ask")
    assert (await settling(journal, tool)()).result == 5
    assert journal.asked.count("append") == 4
    assert await kinds(journal) == [
        *WHOLE[:2],
        *("approval.asked", "approval.answered"),
        *WHOLE[2:],
    ]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_an_answer_that_is_not_known_to_be_written_is_not_given(
    journal: Shaky, when: When
) -> None:
    journal.fails["append"] = [when]
    envelope = await settling(journal, pure(five))()
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.UNAVAILABLE
    assert "cannot be written down" in envelope.failure.message
    assert await kinds(journal) == WHOLE
    assert (await journal.session(SESSION)).state.calls == {}


async def test_where_nothing_can_be_written_nothing_is_left(journal: Shaky) -> None:
    journal.fails["append"] = ["before", "before"]
    envelope = await settling(journal, pure(five))()
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.UNAVAILABLE
    assert "could not be written down" in envelope.warnings[-1]
    assert await kinds(journal) == WHOLE[:1]


async def test_a_large_answer_that_cannot_be_written_names_no_file(journal: Shaky) -> None:
    async def large() -> str:
        return "x" * 5000

    tool = pure(large)
    limits = msgspec.structs.replace(tool.limits, output=OutputBound(max_bytes=500))
    journal.fails["append"] = ["before"]
    envelope = await settling(journal, msgspec.structs.replace(tool, limits=limits))()
    assert envelope.failure is not None
    assert envelope.metadata.output_path is None
    assert await kinds(journal) == WHOLE


@pytest.mark.parametrize("when", ["before", "after"])
async def test_what_waits_and_cannot_be_written_down_does_not_go_on(
    journal: Shaky, when: When
) -> None:
    went_on: list[str] = []
    ended: list[str] = []

    async def waits() -> None:
        try:
            await anyio.lowlevel.checkpoint()
            went_on.append("on")
        finally:
            ended.append("ended")

    journal.fails["append"] = [when]
    envelope = await settling(journal, pure(waits))()
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.UNAVAILABLE
    assert (went_on, ended) == ([], ["ended"])
    assert await kinds(journal) == WHOLE


async def test_who_is_cancelled_while_it_is_written_that_it_runs_leaves_a_whole_trail(
    journal: Shaky,
) -> None:
    ended: list[str] = []

    async def waits() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("ended")

    await _cancelled_in_append(journal, settling(journal, pure(waits)))
    assert ended == ["ended"]
    assert (await kinds(journal))[1:] in ([], WHOLE[1:])


async def _cancelled_in_append(journal: Shaky, settle: Callable[[], Awaitable[Envelope]]) -> None:
    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            while "append" not in journal.asked:
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        await settle()
