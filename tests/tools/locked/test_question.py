"""`question`: a person is asked, the call waits for them, and the wait outlives the program."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Unpack

import anyio
import pytest
from tool_kit import failure, opened, result

from holdfast import Abort, Holdfast, Rule, answer_inquiry, open_inquiries
from holdfast.app.any_session import StoreOptions
from holdfast.app.options import Options
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import open_store
from holdfast.contract.events import Event, InquiryAnswered
from holdfast.contract.failure import FailureKind
from holdfast.contract.journal import NotFitting
from holdfast.contract.person import Inquiry, Replies
from holdfast.contract.session_state import reported
from holdfast.policy.words import NO_ANSWERS
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds

pytestmark = pytest.mark.anyio

WHICH: dict[str, Any] = {
    "question": "Which database?",
    "header": "Storage",
    "options": [{"label": "SQLite", "description": "One file"}, {"label": "PostgreSQL"}],
}
WHERE: dict[str, Any] = {"question": "Where?", "multi_select": True}


class Ada:
    """Says what she was told to say, and keeps what she was asked."""

    def __init__(self, *answers: tuple[str, ...]) -> None:
        self.answers = answers
        self.asked: list[Inquiry] = []

    async def __call__(self, inquiry: Inquiry, /) -> Replies | None:
        self.asked.append(inquiry)
        return Replies(answers=self.answers, by="ada") if self.answers else None


def around(workspace: Path) -> Surroundings:
    home = workspace.parent / f"{workspace.name}-home"
    return Surroundings(data_home=home / "data", state_home=home / "state")


def kept(workspace: Path, **options: Unpack[Options]) -> Holdfast:
    """A session that is written down."""
    chosen = Options(settings=Settings(), surroundings=around(workspace))
    chosen.update(options)
    return Holdfast(profile="locked", workspace=workspace, **chosen)


async def asked_by(hf: Holdfast) -> Inquiry:
    """What the session asks, once it does."""
    with anyio.fail_after(10):
        while True:
            if found := await hf.inquiries():
                return found[0]
            await anyio.sleep(0.01)


async def events(workspace: Path, session: str) -> tuple[Event, ...]:
    clock = SystemClock()
    store = open_store(Settings(), around(workspace), clock, TimeIds(clock))
    try:
        return await store.journal.events(session)
    finally:
        await store.journal.close()


@pytest.mark.req("SPEC-QUES-01", "SPEC-QUES-03", "SPEC-QUES-04", "SPEC-QUES-05", "SPEC-LOCK-13")
@pytest.mark.parametrize("recorded", [False, True])
async def test_each_question_has_its_list_of_answers(workspace: Path, recorded: bool) -> None:
    ada = Ada(("something else entirely",), ("here", "there"))
    made = kept(workspace, person=ada) if recorded else opened(workspace, "locked", person=ada)
    async with made as hf:
        tool = next(tool for tool in hf.tools if tool.name == "question")
        assert tool.requires.empty
        assert await result(hf, "question", questions=[WHICH, WHERE]) == {
            "answers": [["something else entirely"], ["here", "there"]]
        }
    (inquiry,) = ada.asked
    assert inquiry.questions[0].header == "Storage"
    assert [one.label for one in inquiry.questions[0].options] == ["SQLite", "PostgreSQL"]
    assert [one.multi_select for one in inquiry.questions] == [False, True]


@pytest.mark.req("SPEC-QUES-02")
@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ([], "questions"),
        ([{"header": "x"}], "questions[0].question"),
        ([{"question": "a", "options": [{"description": "b"}]}], "questions[0].options[0].label"),
        ([{"question": "a", "multi_select": "perhaps"}], "questions[0].multi_select"),
    ],
)
async def test_what_is_no_question_asks_nobody(
    workspace: Path, sent: list[object], field: str
) -> None:
    ada = Ada(("yes",))
    async with opened(workspace, "locked", person=ada) as hf:
        refused = await failure(hf, "question", questions=sent)
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, field)
    assert ada.asked == []


@pytest.mark.req("SPEC-QUES-12")
async def test_who_declines_skips_all_of_it(workspace: Path) -> None:
    async with kept(workspace, person=Ada()) as hf:
        told = await result(hf, "question", questions=[WHICH, WHERE])
    assert told == {"answers": [[], []], "skipped": True}


@pytest.mark.req("SPEC-QUES-07")
@pytest.mark.parametrize("profile", ["locked", "code", "host", "managed", "readonly"])
async def test_where_nobody_is_there_every_call_gets_the_same_refusal(
    workspace: Path, profile: str
) -> None:
    allowed = Rule(
        permission="question", pattern="*", action="allow", scope="session", source="test"
    )
    async with opened(workspace, profile, rules=[allowed]) as hf:
        assert "question" in [tool.name for tool in hf.tools]
        for asked in ([WHICH], [WHERE, WHICH]):
            refused = await failure(hf, "question", questions=asked)
            assert (refused.kind, refused.message) == (FailureKind.REJECTED, NO_ANSWERS)
        assert (await result(hf, "todo", todos=[]))["ok"]  # the run goes on


async def test_an_asker_that_fails_or_says_what_fits_nothing_is_an_error(workspace: Path) -> None:
    async def broken(_inquiry: Inquiry) -> Replies | None:
        raise ValueError("no screen")

    for asker, words in ((broken, "no screen"), (Ada(("a", "b")), "exactly one answer, not 2")):
        async with kept(workspace, person=asker) as hf:
            failed = await failure(hf, "question", questions=[WHICH])
            assert failed.kind == FailureKind.EXECUTION_ERROR
            assert words in failed.message


async def test_an_abort_ends_the_wait_at_once_and_the_call_with_it(workspace: Path) -> None:
    abort = Abort()
    async with kept(workspace, person="elsewhere") as hf, anyio.create_task_group() as group:

        async def stop() -> None:
            await asked_by(hf)
            abort.set()

        group.start_soon(stop)
        with anyio.fail_after(5):
            envelope = await hf.settle("question", {"questions": [WHICH]}, abort=abort)
        assert envelope.failure is not None
        assert "cancelled" in envelope.failure.message
        assert await hf.inquiries() == ()


async def test_a_reply_from_elsewhere_ends_the_wait_and_the_first_counts(workspace: Path) -> None:
    async with kept(workspace, person="elsewhere") as hf, anyio.create_task_group() as group:

        async def reply() -> None:
            one = await asked_by(hf)
            first = Replies(answers=(("PostgreSQL",),), by="bob")
            there = StoreOptions(settings=Settings(), surroundings=around(workspace))
            await answer_inquiry(hf.session_id, one.call_id, first, **there)
            with pytest.raises(NotFitting, match=r"already recorded a reply|has its answer"):
                await hf.answer_inquiry(one, Replies(answers=(("SQLite",),), by="eve"))

        group.start_soon(reply)
        assert await result(hf, "question", questions=[WHICH]) == {"answers": [["PostgreSQL"]]}
    told = [one.payload for one in await events(workspace, hf.session_id)]
    assert [one.by for one in told if isinstance(one, InquiryAnswered)] == ["bob"]


@pytest.mark.req("SPEC-QUES-11")
async def test_a_session_that_is_closed_leaves_its_question_open(workspace: Path) -> None:
    async with anyio.create_task_group() as group, kept(workspace, person="elsewhere") as hf:
        group.start_soon(hf.settle, "question", {"questions": [WHICH]})
        await asked_by(hf)
    there = StoreOptions(settings=Settings(), surroundings=around(workspace))
    (waiting,) = await open_inquiries(**there)
    assert waiting.questions[0].question == "Which database?"
    # Nobody is there when it is taken up, and the reply counts nevertheless.
    async with kept(workspace, session=hf.session_id) as again:
        assert again.owed == ()
        assert await again.resume() == ()
        with pytest.raises(NotFitting, match="exactly one answer"):
            await again.answer_inquiry(waiting, Replies(answers=((),), by="ada"))
        await again.answer_inquiry(waiting, Replies(answers=(("neither",),), by="ada"))
        (envelope,) = await again.resume()
        assert (envelope.call_id, envelope.failure) == (waiting.call_id, None)
        assert envelope.result_json == b'{"answers":[["neither"]]}'
        assert await again.resume() == ()
        assert await again.inquiries() == ()
    kinds = [one.type for one in await events(workspace, hf.session_id)]
    assert [kind for kind in kinds if not kind.startswith("session.")] == [
        *("call.asked", "call.intended", "inquiry.asked", "inquiry.answered", "call.settled")
    ]


CHILD = """
import sys, anyio
from pathlib import Path
from holdfast import Holdfast
from holdfast.app.settings import Settings, Surroundings
home = Path(sys.argv[1])
around = Surroundings(data_home=home / "data", state_home=home / "state")
async def main():
    hf = Holdfast(profile="locked", workspace=sys.argv[2], settings=Settings(), surroundings=around,
                  person="elsewhere")
    async with hf, anyio.create_task_group() as group:
        group.start_soon(hf.settle, "question", {"questions": [{"question": "Go on?"}]})
        while not await hf.inquiries():
            await anyio.sleep(0.01)
        print(hf.session_id, flush=True)
        await anyio.sleep_forever()
anyio.run(main)
"""


@pytest.mark.req("SPEC-QUES-11")
async def test_a_question_outlives_a_program_that_is_killed(workspace: Path) -> None:
    home = workspace.parent / f"{workspace.name}-home"
    argv = [sys.executable, "-c", CHILD, str(home), str(workspace)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as child:  # noqa: ASYNC220 - a test
        assert child.stdout is not None
        session = child.stdout.readline().strip()
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    async with kept(workspace, session=session, person=Ada(("never asked",))) as hf:
        (waiting,) = await hf.inquiries()
        journal_state = (await hf._journal()).session  # pyright: ignore[reportPrivateUsage] - to look
        assert reported((await journal_state(session)).state) == "waiting_on_user_input"
        await hf.answer_inquiry(waiting.call_id, Replies(answers=(("yes",),), by="ada"))
        (envelope,) = await hf.resume()
        assert envelope.result_json == b'{"answers":[["yes"]]}'


async def test_what_is_replied_is_written_down_without_secrets(workspace: Path) -> None:
    secret = "s3cr3t-of-the-house"
    surroundings = Surroundings(
        data_home=around(workspace).data_home, state_home=workspace / "s", secrets=(secret,)
    )
    made = kept(workspace, person=Ada((f"it is {secret}",)), surroundings=surroundings)
    async with made as hf:
        told = await hf.settle("question", {"questions": [{"question": f"Is it {secret}?"}]})
        assert secret not in str(told)
        journal = await hf._journal()  # pyright: ignore[reportPrivateUsage] - to look
        assert secret not in str(await journal.events(hf.session_id))


async def test_nobody_can_reply_elsewhere_without_a_journal(workspace: Path) -> None:
    with pytest.raises(ValueError, match="waits for replies in the journal"):
        async with opened(workspace, "locked", person="elsewhere"):
            pass
