"""`clarify`: one question, few short options, an answer to read."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_kit import failure, opened, result

from holdfast.contract.failure import FailureKind
from holdfast.contract.person import Inquiry, Replies
from holdfast.policy.words import NO_ANSWERS
from holdfast.tools.host.clarify import distinct

pytestmark = pytest.mark.anyio


class Ada:
    def __init__(self, *answers: str, skips: bool = False) -> None:
        self.answers = answers
        self.skips = skips
        self.asked: list[Inquiry] = []

    async def __call__(self, inquiry: Inquiry, /) -> Replies | None:
        self.asked.append(inquiry)
        return None if self.skips else Replies(answers=(self.answers,), by="ada")


@pytest.mark.req("OSA-DRV-10")
async def test_options_are_told_apart_whatever_their_case_and_are_few_and_short(
    workspace: Path,
) -> None:
    ada = Ada("PDF")
    async with opened(workspace, "host", person=ada) as hf:
        many = ["PDF", "pdf", " Pdf ", "HTML", "a", "b", "c", "d", "D"]
        told = await result(hf, "clarify", question="Which?", options=many)
        assert told == {"text": "The user answered: PDF"}
        (asked,) = ada.asked
        shown = [one.label for one in asked.questions[0].options]
        assert shown == ["PDF", "HTML", "a", "b", "c", "d"]
        assert asked.questions[0].multi_select is False
        seven = await failure(hf, "clarify", question="Which?", options=list("abcdefg"))
        assert (seven.kind, seven.field) == (FailureKind.INVALID_ARGS, "options")
        assert "7 options are too many" in seven.message
        long = await failure(hf, "clarify", question="Which?", options=["x" * 81])
        assert (long.kind, long.field) == (FailureKind.INVALID_ARGS, "options[0]")
        await result(hf, "clarify", question="Which?", options=["x" * 80])
        assert len(ada.asked) == 2


async def test_several_answers_none_and_no_answer_are_told_in_words(workspace: Path) -> None:
    for ada, words in (
        (Ada("a", "b"), "The user answered:\n- a\n- b"),
        (Ada(), "The user chose none of the options."),
        (Ada(skips=True), "The user did not answer."),
    ):
        async with opened(workspace, "host", person=ada) as hf:
            told = await result(hf, "clarify", question="Which?", allowMultiple=True)
            assert told["text"].startswith(words)
            assert list(told) == ["text"]


async def test_without_a_person_it_is_refused_in_the_same_words_as_question(
    workspace: Path,
) -> None:
    async with opened(workspace, "host") as hf:
        refused = await failure(hf, "clarify", question="Which?")
        assert (refused.kind, refused.message) == (FailureKind.REJECTED, NO_ANSWERS)


@given(st.lists(st.text(alphabet="aAbB ß", max_size=4), max_size=8))
def test_each_option_stays_once_in_its_first_spelling(options: list[str]) -> None:
    kept = distinct(options)
    assert len({one.casefold() for one in kept}) == len(kept)
    cleaned = [" ".join(one.split()) for one in options]
    assert {one.casefold() for one in cleaned if one} == {one.casefold() for one in kept}
    assert distinct(kept) == kept
