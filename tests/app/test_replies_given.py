"""Replies to what tools ask: what can be given as one, and to which inquiry of which store."""

from pathlib import Path

import pytest
from app.recorded import around

from holdfast import answer_inquiry, open_inquiries
from holdfast.app.any_session import StoreOptions
from holdfast.app.inquiring import call_of, checked_replies
from holdfast.app.settings import Settings
from holdfast.contract.journal import UnknownSession
from holdfast.contract.person import Inquiry, PersonQuestion, Replies
from holdfast.testing.fakes import FakeClock

pytestmark = pytest.mark.anyio

INQUIRY = Inquiry(
    session_id="ses_1",
    call_id="cal_1",
    tool="question",
    questions=(PersonQuestion("Which?"),),
    asked_at=FakeClock().now(),
)


async def test_without_a_store_nothing_is_asked_and_no_session_is_known(tmp_path: Path) -> None:
    there = StoreOptions(settings=Settings(), surroundings=around(tmp_path))
    assert await open_inquiries(**there) == ()
    with pytest.raises(UnknownSession, match="there is no session yet"):
        await open_inquiries("ses_1", **there)
    with pytest.raises(UnknownSession, match="there is no session yet"):
        await answer_inquiry("ses_1", "cal_1", Replies(answers=(("a",),), by="ada"), **there)
    assert not list(tmp_path.rglob("*.db*"))


def test_an_inquiry_is_named_by_itself_or_by_its_call() -> None:
    assert call_of(INQUIRY, "ses_1") == "cal_1"
    assert call_of("cal_7", "ses_1") == "cal_7"
    with pytest.raises(ValueError, match="is one of session ses_1, and this is ses_2"):
        call_of(INQUIRY, "ses_2")
    with pytest.raises(TypeError, match="7 is no inquiry; give one of inquiries"):
        call_of(7, "ses_1")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([["yes"]], r"is no Replies; write Replies\(answers="),
        (None, "None is no Replies"),
        (Replies(answers="yes", by="ada"), "Expected `array`, got `str`"),  # pyright: ignore[reportArgumentType] - what a caller may get wrong
        (Replies(answers=((7,),), by="ada"), "Expected `str`, got `int`"),  # pyright: ignore[reportArgumentType] - what a caller may get wrong
        (Replies(answers=(), by=None), r"got `null` - at `\$\.by`; write"),  # pyright: ignore[reportArgumentType] - what a caller may get wrong
        (Replies(answers=((object(),),), by="ada"), "unsupported; write Replies"),  # pyright: ignore[reportArgumentType] - what a caller may get wrong
    ],
)
def test_what_is_no_reply_is_told_with_what_to_write(given: object, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        checked_replies(given)


def test_lists_are_taken_for_answers_and_broken_text_is_made_whole() -> None:
    listed = Replies(answers=[["a\ud800b"], []], by="\udfff")  # pyright: ignore[reportArgumentType] - what a caller may get wrong
    told = checked_replies(listed)
    assert told.answers == (("a?b",), ())
    assert told.by == "?"
