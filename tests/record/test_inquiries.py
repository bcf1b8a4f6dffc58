"""What a call asks a person, in the journal: a reply counts once, for that call, and if it fits.

On both stores, inside of the transaction.
"""

from pathlib import Path

import pytest
from anyio import create_task_group
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace
from record.stores import Opened, postgres_at, sqlite_at

from holdfast.contract.events import (
    CallAsked,
    CallIntended,
    CallSettled,
    InquiryAnswered,
    InquiryAsked,
    Payload,
    SessionCreated,
    UserMessage,
)
from holdfast.contract.journal import Journal, NotFitting
from holdfast.contract.person import PersonQuestion, misfit
from holdfast.contract.session_state import reported

pytestmark = pytest.mark.anyio

S = "ses_1"
ASKED = CallAsked(call_id="cal_1", tool="question", arguments="{}")
INTENDED = CallIntended(call_id="cal_1", tool="question", arguments_hash="ab", grounds="g")
INQUIRY = InquiryAsked(
    call_id="cal_1",
    questions=(
        PersonQuestion(question="Which?"),
        PersonQuestion(question="Where?", multi_select=True),
    ),
)
REPLY = InquiryAnswered(call_id="cal_1", answers=(("this",), ("here", "there")), by="ada")
SETTLED = CallSettled(call_id="cal_1", tool="question", envelope=Raw(b'{"ok":true,"result":1}'))


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    if request.param == "sqlite":
        return sqlite_at(tmp_path / "h.db")
    return postgres_at(request.getfixturevalue("postgres_url"))


async def refused(journal: Journal, said: Payload, told: str) -> None:
    before = (await journal.session(S)).sequence
    with pytest.raises(NotFitting) as problem:
        await journal.append(S, [UserMessage(message="beside it"), said])
    assert told in str(problem.value)
    assert (await journal.session(S)).sequence == before


@pytest.mark.req("SPEC-QUES-10")
async def test_only_a_fitting_reply_to_the_call_that_asks_answers_it(opened: Opened) -> None:
    async with opened() as journal:
        await journal.create(S, [SessionCreated(), ASKED])
        await refused(journal, INQUIRY, "cannot ask a person any more: it is asked already")
        await journal.append(S, [INTENDED])
        await refused(journal, REPLY, "the call cal_1 does not wait for a person's reply")
        await journal.append(S, [INQUIRY])
        await journal.append(S, [UserMessage(message="this")])
        state = (await journal.session(S)).state
        assert state.calls["cal_1"].stage == "inquiring"
        assert reported(state) == "waiting_on_user_input"
        await refused(journal, replace(REPLY, call_id="cal_2"), "knows no call cal_2")
        await refused(journal, replace(REPLY, answers=(("this",),)), "each of 2 questions")
        await refused(journal, replace(REPLY, answers=((), ())), "takes exactly one answer, not 0")
        await refused(journal, replace(REPLY, answers=(("a", "b"), ())), "exactly one answer")
        await refused(journal, replace(REPLY, answers=((" ",), ())), "is empty")
        await refused(journal, replace(REPLY, skipped=True), "gives no answer to any of them")
        await journal.append(S, [REPLY])
        assert (await journal.session(S)).state.calls["cal_1"].stage == "replied"
        await refused(journal, REPLY, "already recorded a reply to the inquiry of call cal_1")
        await refused(journal, INQUIRY, "cannot ask a person any more: it is replied already")
        await journal.append(S, [SETTLED])
        await refused(journal, REPLY, "the call cal_1 has its answer already")


async def test_of_many_replies_at_once_one_counts(opened: Opened) -> None:
    outcomes: list[bool] = []

    async def reply(journal: Journal, number: int) -> None:
        try:
            await journal.append(S, [replace(REPLY, answers=((str(number),), ()))])
        except NotFitting:
            outcomes.append(False)
        else:
            outcomes.append(True)

    async with opened() as first, opened() as second:
        await first.create(S, [SessionCreated(), ASKED, INTENDED, INQUIRY])
        async with create_task_group() as people:
            for number in range(10):
                people.start_soon(reply, (first, second)[number % 2], number)
    assert sorted(outcomes) == [False] * 9 + [True]


LISTS = st.lists(st.lists(st.text(max_size=3), max_size=3).map(tuple), max_size=4).map(tuple)


@given(st.lists(st.booleans(), max_size=4), LISTS)
def test_what_fits_has_a_list_for_each_question_and_one_answer_where_one_is_wanted(
    several: list[bool], answers: tuple[tuple[str, ...], ...]
) -> None:
    fits = misfit(several, answers, was_skipped=False) is None
    assert fits == (
        len(answers) == len(several)
        and all(text.strip() for given in answers for text in given)
        and all(many or len(given) == 1 for many, given in zip(several, answers, strict=True))
    )
    skips = misfit(several, answers, was_skipped=True) is None
    assert skips == (answers == ((),) * len(several))
