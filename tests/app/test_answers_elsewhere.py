"""A question answered elsewhere while its approver waits: the first answer counts, and one does."""

import random
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from app.recorded import (
    LAUNCHED,
    SECRET,
    YES,
    around,
    events_of,
    journal_of,
    kinds,
    opened,
)
from this_tree import this_tree

from holdfast import Answer, Ask, Holdfast, Question, answer_question
from holdfast.app.settings import Settings
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import ApprovalAnswered, CallSettled
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import JournalUnavailable, NotFitting
from holdfast.runtime import hearing
from holdfast.runtime.abort import Abort
from holdfast.runtime.approvals import ApprovalDesk
from holdfast.runtime.trail import Trail

pytestmark = pytest.mark.anyio
NO = Answer(allowed=False, by="bob", note="not today")
WHOLE = [
    *("session.created", "call.asked", "approval.asked", "approval.answered"),
    *("call.intended", "call.settled", "session.closed"),
]
REFUSED = [*WHOLE[:4], "call.refused", *WHOLE[5:]]


@pytest.fixture(autouse=True)
def nothing_launched() -> None:
    LAUNCHED.clear()


class Waiting:
    """An approver that waits for ever, and knows how that ended."""

    def __init__(self) -> None:
        self.asked: list[Ask] = []
        self.interrupted = 0

    async def __call__(self, ask: Ask, /) -> Answer | None:
        self.asked.append(ask)
        try:
            await anyio.sleep_forever()
        finally:
            self.interrupted += 1
        raise AssertionError


async def question(hf: Holdfast) -> Question:
    while True:
        found = await hf.questions()
        if found:
            return found[0]
        await anyio.sleep(0.002)


async def launched(hf: Holdfast, meanwhile: Callable[[Question], Awaitable[None]]) -> Envelope:
    """Ask for a launch; what is done while it waits."""
    answers: list[Envelope] = []

    async def call() -> None:
        answers.append(await hf.settle("launch", {"name": "rocket"}))

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await meanwhile(await question(hf))
    return answers[0]


async def test_the_call_that_waits_goes_on_with_an_answer_given_beside_the_approver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "LOOK_SECONDS", 3600)  # it does not have to be looked for
    approver = Waiting()
    async with opened(tmp_path, approver=approver) as hf:

        async def answer(asked: Question) -> None:
            await hf.answer(asked, YES)
            while not LAUNCHED:  # noqa: ASYNC110 - the tool tells nobody
                await anyio.sleep(0.002)
            with pytest.raises(NotFitting, match="already"):
                await hf.answer(asked, NO)

        assert (await launched(hf, answer)).ok
        assert await hf.questions() == ()
        assert await hf.resume() == ()
    assert (LAUNCHED, approver.interrupted) == (["rocket"], 1)
    assert kinds(await events_of(tmp_path, hf.session_id)) == WHOLE


async def test_a_refusal_given_beside_the_approver_ends_the_call(tmp_path: Path) -> None:
    async with opened(tmp_path, approver=Waiting()) as hf:
        envelope = await launched(hf, lambda asked: hf.answer(asked, NO))
    assert envelope.failure is not None
    assert envelope.failure.kind is FailureKind.USER_DENIED
    assert "not today" in envelope.failure.message
    assert LAUNCHED == []
    assert kinds(await events_of(tmp_path, hf.session_id)) == REFUSED


OTHER = """
import sys
from pathlib import Path
import anyio
from app.recorded import YES, journal_of
from holdfast.runtime.trail import answered

async def main(root, session, approval, call):
    async with journal_of(Path(root)) as journal:
        await journal.append(session, [answered(approval, call, YES)])

anyio.run(main, *sys.argv[1:])
"""


@pytest.mark.parametrize("words", ["not today", None])
@pytest.mark.parametrize("where", ["asked", "beside", "elsewhere"])
async def test_a_no_is_the_same_failure_wherever_it_was_given(
    tmp_path: Path, where: str, words: str | None
) -> None:
    """Whoever loops over calls goes on from a refusal with words, and can tell it by its note."""
    no = Answer(allowed=False, by="bob", note=words)

    async def asked(_ask: Ask) -> Answer:
        return no

    async def answered(hf: Holdfast, found: Question) -> None:
        if where == "beside":
            await hf.answer(found, no)
        else:
            await answer_question(
                *(hf.session_id, found.approval_id, no),
                settings=Settings(),
                surroundings=around(tmp_path),
            )

    async with opened(tmp_path, approver=asked if where == "asked" else Waiting()) as hf:
        if where == "asked":
            refused = await hf.settle("launch", {"name": "rocket"})
        else:
            refused = await launched(hf, lambda found: answered(hf, found))
    assert refused.failure is not None
    assert refused.failure.kind is FailureKind.USER_DENIED
    assert refused.failure.extras == ({} if words is None else {"note": "not today"})
    assert LAUNCHED == []


async def test_the_call_that_waits_goes_on_with_an_answer_from_another_process(
    tmp_path: Path,
) -> None:
    approver = Waiting()
    async with opened(tmp_path, approver=approver) as hf:

        async def answer(asked: Question) -> None:
            names = (hf.session_id, asked.approval_id, asked.call_id)
            command = [sys.executable, "-c", OTHER, str(tmp_path), *names]
            path = this_tree()
            await anyio.to_thread.run_sync(
                lambda: subprocess.run(command, env=path, check=True, timeout=10)
            )
            while not LAUNCHED:  # noqa: ASYNC110 - the tool tells nobody
                await anyio.sleep(0.01)

        assert (await launched(hf, answer)).ok
    assert approver.interrupted == 1
    assert kinds(await events_of(tmp_path, hf.session_id)) == WHOLE


@pytest.mark.parametrize("late", [NO, None], ids=["another answer", "nobody"])
async def test_an_approver_that_comes_second_is_not_heard(
    tmp_path: Path, late: Answer | None, caplog: pytest.LogCaptureFixture
) -> None:
    """The first answer is in the journal, and the approver answers before anybody has looked."""

    async def second(_ask: Ask) -> Answer | None:
        (asked,) = await hf.questions()
        said = ApprovalAnswered(
            approval_id=asked.approval_id, call_id=asked.call_id, allowed=True, by="ada"
        )
        async with journal_of(tmp_path) as journal:
            await journal.append(hf.session_id, [said])
        return late

    async with opened(tmp_path, approver=second) as hf:
        assert (await hf.settle("launch", {"name": "rocket"})).ok
        assert await hf.resume() == ()
    assert LAUNCHED == ["rocket"]
    assert "came after that of ada: the first counts" in caplog.text
    assert kinds(await events_of(tmp_path, hf.session_id)) == WHOLE


async def test_an_answer_that_comes_after_the_approvers_is_refused(tmp_path: Path) -> None:
    refused: list[str] = []

    async def first(_ask: Ask) -> Answer | None:
        questions.extend(await hf.questions())
        return YES

    questions: list[Question] = []
    async with opened(tmp_path, approver=first) as hf:
        assert (await hf.settle("launch", {"name": "rocket"})).ok
        with pytest.raises(NotFitting) as told:
            await hf.answer(questions[0], NO)
        refused.append(str(told.value))
    assert refused == [f"the call {questions[0].call_id} has its answer already"]
    assert kinds(await events_of(tmp_path, hf.session_id)) == WHOLE


async def test_an_approver_that_does_not_let_itself_be_interrupted_is_left_behind(
    tmp_path: Path,
) -> None:
    async def stubborn(_ask: Ask) -> Answer | None:
        with anyio.CancelScope(shield=True):
            while True:
                try:
                    await anyio.sleep_forever()
                except anyio.get_cancelled_exc_class():
                    continue

    async with opened(tmp_path, approver=stubborn) as hf:
        assert (await launched(hf, lambda asked: hf.answer(asked, YES))).ok
    assert LAUNCHED == ["rocket"]
    assert kinds(await events_of(tmp_path, hf.session_id)) == WHOLE


async def test_a_desk_whose_question_was_answered_elsewhere_takes_it_back(tmp_path: Path) -> None:
    desk = ApprovalDesk()
    async with opened(tmp_path, approver=desk) as hf:

        async def answer(asked: Question) -> None:
            while not desk.pending:  # noqa: ASYNC110 - it is asked in a moment
                await anyio.sleep(0.002)
            await hf.answer(asked, YES)

        assert (await launched(hf, answer)).ok
    assert desk.pending == ()


async def test_a_call_given_up_while_it_waits_has_its_end_and_takes_no_answer(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, approver=Waiting()) as hf:
        asked: list[Question] = []
        async with anyio.create_task_group() as group:
            group.start_soon(hf.settle, "launch", {"name": "rocket"})
            asked.append(await question(hf))
            group.cancel_scope.cancel()
        with pytest.raises(NotFitting, match="has its answer already"):
            await hf.answer(asked[0], YES)
    assert LAUNCHED == []
    found = kinds(await events_of(tmp_path, hf.session_id))
    assert found == [*WHOLE[:3], "call.settled", "session.closed"]


@pytest.mark.parametrize("answers", [True, False])
async def test_a_call_that_is_aborted_while_it_waits_is_cancelled(
    tmp_path: Path, answers: bool
) -> None:
    """Also when it is answered in the same moment."""
    abort, told = Abort(), list[Envelope]()
    async with opened(tmp_path, approver=Waiting()) as hf:

        async def call() -> None:
            told.append(await hf.settle("launch", {"name": "rocket"}, abort=abort))

        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(call)
                asked = await question(hf)
                if answers:
                    await hf.answer(asked, YES)
                abort.set()
    assert told[0].failure is not None
    assert "cancelled" in told[0].failure.message
    assert LAUNCHED == []
    found = kinds(await events_of(tmp_path, hf.session_id))
    assert found == [*WHOLE[: 4 if answers else 3], *WHOLE[5:]]


async def test_of_several_calls_that_wait_the_one_goes_on_that_was_answered(tmp_path: Path) -> None:
    approver = Waiting()
    async with opened(tmp_path, approver=approver) as hf:
        names = ["one", "two", "three"]
        async with anyio.create_task_group() as group:
            for name in names:
                group.start_soon(hf.settle, "launch", {"name": name})
            while len(approver.asked) < len(names):  # noqa: ASYNC110 - each in its own time
                await anyio.sleep(0.002)
            wanted = next(one for one in approver.asked if one.prepared.arguments["name"] == "two")
            questions = {one.approval_id: one for one in await hf.questions()}
            assert wanted.approval_id is not None
            await hf.answer(questions[wanted.approval_id], YES)
            await anyio.sleep(0.7)  # the others have looked, too
            assert LAUNCHED == ["two"]
            assert len(await hf.questions()) == 2
            group.cancel_scope.cancel()


async def test_a_look_that_fails_is_taken_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    first_answer = Trail.first_answer

    async def failing(trail: Trail, approval_id: str) -> ApprovalAnswered | None:
        looked.append(approval_id)
        if len(looked) == 1:
            raise JournalUnavailable("just now it cannot be read")
        return await first_answer(trail, approval_id)

    monkeypatch.setattr(Trail, "first_answer", failing)
    async with opened(tmp_path, approver=Waiting()) as hf:
        started = anyio.current_time()
        assert (await launched(hf, lambda asked: hf.answer(asked, YES))).ok
    assert len(looked) == 2
    assert anyio.current_time() - started > 0.4


async def test_what_is_said_with_an_answer_holds_no_secret(tmp_path: Path) -> None:
    note = Answer(allowed=True, by="ada", note=f"the word is {SECRET}")
    async with opened(tmp_path, SECRET, approver=Waiting()) as hf:
        assert (await launched(hf, lambda asked: hf.answer(asked, note))).ok
    for path in (tmp_path / "data").rglob("*"):
        assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("seed", range(6))
async def test_in_every_order_of_events_one_answer_counts_and_the_call_has_one_end(
    tmp_path: Path, seed: int
) -> None:
    """The approver, two others and an abort, each at a moment of its own."""
    dice = random.Random(seed)
    for number in range(12):
        LAUNCHED.clear()
        moments = [dice.choice([0, 0, dice.uniform(0, 0.02)]) for _ in range(4)]
        await _one_round(tmp_path, moments, aborts=number % 4 == 0)


async def _one_round(root: Path, moments: list[float], *, aborts: bool) -> None:
    async def approver(_ask: Ask) -> Answer | None:
        await anyio.sleep(moments[0])
        return NO

    refused: list[NotFitting] = []
    async with opened(root, approver=approver) as hf, anyio.create_task_group() as group:

        async def answer(asked: Question, moment: float, said: Answer) -> None:
            await anyio.sleep(moment)
            try:
                await hf.answer(asked, said)
            except NotFitting as problem:
                refused.append(problem)

        async def call() -> None:
            with anyio.move_on_after(moments[3] if aborts else 10):
                await hf.settle("launch", {"name": "rocket"})

        group.start_soon(call)
        for _ in range(20):
            found = await hf.questions()
            if found:
                group.start_soon(answer, found[0], moments[1], YES)
                group.start_soon(answer, found[0], moments[2], NO)
                break
    events = await events_of(root, hf.session_id)
    answers = [one.payload for one in events if isinstance(one.payload, ApprovalAnswered)]
    ends = [one for one in events if isinstance(one.payload, CallSettled)]
    assert len(answers) == 1 or (aborts and not answers)
    assert len(ends) == kinds(events).count("call.asked")
    if not aborts:
        assert bool(LAUNCHED) == answers[0].allowed
    else:
        assert not LAUNCHED or answers[0].allowed
    async with journal_of(root) as journal:
        assert (await journal.session(hf.session_id)).state.calls == {}
