"""Open questions as a person needs them, and answers from a process that runs nothing."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from app.recorded import LAUNCHED, SECRET, YES, around, events_of, launch, opened
from app.test_answers_elsewhere import Waiting, launched, question
from this_tree import this_tree

from holdfast import Answer, Question, answer_question, blocking, open_questions
from holdfast.app.answering import write_answer
from holdfast.app.settings import Settings
from holdfast.contract.events import ApprovalAnswered, ApprovalAsked
from holdfast.contract.journal import EventQuery, NotFitting, UnknownSession
from holdfast.envelope.redact import Redactor

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def nothing_launched() -> None:
    LAUNCHED.clear()


def place(root: Path, *secrets: str) -> dict[str, Any]:
    return {"settings": Settings(), "surroundings": around(root, *secrets)}


async def test_a_question_has_what_a_person_needs(tmp_path: Path) -> None:
    before = datetime.now(UTC)
    async with (
        opened(tmp_path, SECRET, approver=Waiting()) as hf,
        anyio.create_task_group() as all_,
    ):
        all_.start_soon(hf.settle, "launch", f'{{"name": "{SECRET}"}}')
        asked = await question(hf)
        assert (asked.session_id, asked.tool) == (hf.session_id, "launch")
        assert asked.arguments == '{"name": "***REDACTED***"}'
        assert asked.reason
        assert asked.approval_id.startswith("apr_")
        assert asked.call_id.startswith("cal_")
        assert before <= asked.asked_at <= datetime.now(UTC)
        assert asked.offers
        assert await open_questions(hf.session_id, **place(tmp_path)) == (asked,)
        all_.cancel_scope.cancel()


async def test_questions_come_in_the_order_they_were_asked(tmp_path: Path) -> None:
    approver = Waiting()
    async with opened(tmp_path, approver=approver) as hf, anyio.create_task_group() as group:
        names = [f"rocket {number}" for number in range(6)]
        for number, name in enumerate(names, 1):
            group.start_soon(hf.settle, "launch", {"name": name})
            while len(approver.asked) < number:  # noqa: ASYNC110 - one after the other
                await anyio.sleep(0.002)
        told = [one.arguments for one in await hf.questions()]
        assert told == [f'{{"name":"{name}"}}' for name in names]
        async with opened(tmp_path, approver=Waiting()) as other:
            group.start_soon(other.settle, "launch", {"name": "last"})
            last = await question(other)
            everywhere = await open_questions(**place(tmp_path))
            assert everywhere == (*await hf.questions(), last)
            group.cancel_scope.cancel()


@pytest.mark.parametrize("by_id", [True, False])
async def test_a_question_is_answered_by_itself_or_by_its_id(tmp_path: Path, by_id: bool) -> None:
    async with opened(tmp_path, approver=Waiting()) as hf:

        async def answer(asked: Question) -> None:
            await hf.answer(asked.approval_id if by_id else asked, YES)

        assert (await launched(hf, answer)).ok


NONSENSE: list[tuple[object, object, str]] = [
    (7, YES, "7 is no question; give one of questions"),
    ("apr_1", True, "True is no answer; write Answer"),
    ("apr_1", None, "None is no answer"),
    ("apr_1", Answer(allowed=cast("Any", "yes"), by="ada"), "is no answer"),
    ("apr_1", Answer(allowed=True, by="ada", remember=cast("Any", "always")), "'once', 'session'"),
    ("apr_1", Answer(allowed=True, by="ada", wider=cast("Any", "*")), "wider is a bool"),
]


@pytest.mark.parametrize(("what", "said", "told"), NONSENSE)
async def test_what_is_no_question_or_no_answer_is_told(
    tmp_path: Path, what: Any, said: Any, told: str
) -> None:
    async with opened(tmp_path) as hf:
        with pytest.raises(TypeError, match=told):
            await hf.answer(what, said)
    if isinstance(what, str):
        with pytest.raises(TypeError, match=told):
            await answer_question("ses_1", what, said, **place(tmp_path))


async def test_a_question_of_another_session_is_not_answered_here(tmp_path: Path) -> None:
    async with opened(tmp_path, approver=Waiting()) as hf, anyio.create_task_group() as group:
        group.start_soon(hf.settle, "launch", {"name": "rocket"})
        asked = await question(hf)
        async with opened(tmp_path) as other:
            with pytest.raises(ValueError, match=r"one of session .* use holdfast.answer_question"):
                await other.answer(asked, YES)
            with pytest.raises(NotFitting, match=f"has no question {asked.approval_id}; see: "):
                await other.answer(asked.approval_id, YES)
        group.cancel_scope.cancel()


OTHER = """
import sys
from pathlib import Path
import anyio
from app.test_answering import place
from holdfast import Answer, answer_question, open_questions

async def main(root):
    where = place(Path(root), sys.argv[2])
    (asked,) = await open_questions(**where)
    said = Answer(allowed=True, by="bob", note="the word is " + sys.argv[2])
    await answer_question(asked.session_id, asked.approval_id, said, **where)

anyio.run(main, sys.argv[1])
"""


async def test_another_process_answers_while_the_session_is_run(tmp_path: Path) -> None:
    async with opened(tmp_path, approver=Waiting()) as hf:

        async def answer(asked: Question) -> None:
            path = this_tree()
            await anyio.to_thread.run_sync(
                lambda: subprocess.run(
                    [sys.executable, "-c", OTHER, str(tmp_path), SECRET],
                    env=path,
                    check=True,
                    timeout=10,
                )
            )
            names = (asked.session_id, asked.approval_id)
            with pytest.raises(NotFitting, match="already"):
                await answer_question(*names, YES, **place(tmp_path))

        assert (await launched(hf, answer)).ok
    assert LAUNCHED == ["rocket"]
    said = [one.payload for one in await events_of(tmp_path, hf.session_id)]
    (told,) = [one for one in said if isinstance(one, ApprovalAnswered)]
    assert (told.by, told.note) == ("bob", "the word is ***REDACTED***")


async def test_text_that_is_no_unicode_can_be_said(tmp_path: Path) -> None:
    async with opened(tmp_path, approver=Waiting()) as hf:
        said = Answer(allowed=False, by="a\udc80", note="no \udcff")
        envelope = await launched(hf, lambda asked: hf.answer(asked, said))
    assert envelope.failure is not None
    assert envelope.failure.message.endswith(": no ?")


async def test_where_nothing_is_stored_there_is_no_question(tmp_path: Path) -> None:
    assert await open_questions(**place(tmp_path)) == ()
    for work in (
        open_questions("ses_1", **place(tmp_path)),
        answer_question("ses_1", "apr_1", YES, **place(tmp_path)),
    ):
        with pytest.raises(UnknownSession, match="there is no session yet"):
            await work
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("elsewhere", [True, False])
def test_synchronous_code_answers_too(tmp_path: Path, elsewhere: bool) -> None:
    where = place(tmp_path)
    with blocking.Holdfast(tools=[launch], approver=Waiting(), **where) as hf:
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(hf.settle, "launch", {"name": "rocket"})
            while not (asked := hf.questions()):
                time.sleep(0.01)
            if elsewhere:
                assert blocking.open_questions(**where) == asked
                blocking.answer_question(hf.session_id, asked[0].approval_id, YES, **where)
            else:
                hf.answer(asked[0], YES)
            assert waiting.result(10).ok
        assert hf.questions() == ()
        assert hf.resume() == ()
    assert LAUNCHED == ["rocket"]


def test_synchronous_code_is_told_when_it_is_not_open(tmp_path: Path) -> None:
    hf = blocking.Holdfast(tools=[launch], **place(tmp_path))
    for ask in (hf.questions, hf.resume, lambda: hf.answer("apr_1", YES)):
        with pytest.raises(RuntimeError, match="with Holdfast"):
            ask()


class Pages:
    """A journal whose questions of before come page by page; ids that are damaged repeat one."""

    def __init__(self, *pages: list[str]) -> None:
        self._pages = iter(pages)
        self.written: list[object] = []

    async def session(self, _session_id: str) -> object:
        return SimpleNamespace(state=SimpleNamespace(calls={}, confirmation=None))

    async def find(self, _session_id: str, _query: EventQuery) -> list[object]:
        page = next(self._pages, list[str]())
        return [
            SimpleNamespace(
                id="damaged" if name == "x" else name,
                payload=ApprovalAsked(
                    approval_id=f"apr_{name}",
                    call_id=f"cal_{name}",
                    tool="launch",
                    arguments_hash="",
                    reason="",
                ),
            )
            for name in page
        ]

    async def append(self, _session_id: str, payloads: list[object]) -> None:
        self.written += payloads


async def test_a_question_of_long_ago_is_found_page_by_page() -> None:
    journal = Pages(["e", "f"], ["c", "d"], ["a", "b"])
    await write_answer(cast("Any", journal), "ses_1", "apr_c", YES, Redactor(()))
    (written,) = journal.written
    assert isinstance(written, ApprovalAnswered)
    assert (written.approval_id, written.call_id) == ("apr_c", "cal_c")


async def test_a_page_that_comes_again_ends_the_search() -> None:
    journal = Pages(*[["x"]] * 1000)
    with pytest.raises(NotFitting, match="has no question apr_y"):
        await write_answer(cast("Any", journal), "ses_1", "apr_y", YES, Redactor(()))
    assert not journal.written
