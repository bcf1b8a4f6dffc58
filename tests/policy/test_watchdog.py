"""The strictest hook counts; one that fails refuses."""

from typing import Any, cast

import pytest
from support import make_call, make_tool

from holdfast.contract.agents import NO_AGENT
from holdfast.contract.call import Prepared
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Hook, Inspection, Opinion
from holdfast.execution.drive import CancelledError
from holdfast.policy.watchdog import Watchdog

TOOL = make_tool()
CALL = Inspection(
    prepared=Prepared(call=make_call(), tool=TOOL, values={}, checked={}),
    manifest=NO_AGENT,
    uses=(),
)
ASKS, DENIES = Opinion("ask", "look"), Opinion("deny", "never")


def says(opinion: Opinion) -> Hook:
    return lambda _inspection, /: opinion


def later(opinion: Opinion) -> Hook:
    async def hook(_inspection: Inspection, /) -> Opinion:
        return opinion

    return hook


def raises(_inspection: Inspection, /) -> Opinion:
    raise KeyError("broken")


async def raises_later(_inspection: Inspection, /) -> Opinion:
    raise KeyError("broken")


async def consulted(*hooks: Hook) -> Opinion:
    opinion = Watchdog(hooks).consult(CALL)
    return opinion if isinstance(opinion, Opinion) else await opinion


async def test_without_hooks_there_is_nothing_against_a_call() -> None:
    assert await consulted() is NOTHING_AGAINST_IT


@pytest.mark.parametrize("hooks", [(ASKS, DENIES), (DENIES, ASKS), (NOTHING_AGAINST_IT, DENIES)])
async def test_the_strictest_opinion_counts(hooks: tuple[Opinion, ...]) -> None:
    assert await consulted(*map(says, hooks)) == DENIES
    assert await consulted(*map(later, hooks)) == DENIES


async def test_of_two_that_agree_the_first_speaks() -> None:
    other = Opinion("ask", "another reason")
    assert await consulted(says(ASKS), says(other)) == ASKS
    assert await consulted(says(ASKS), later(other), says(NOTHING_AGAINST_IT)) == ASKS
    assert await consulted(later(NOTHING_AGAINST_IT), later(other), says(ASKS)) == other


async def test_after_a_deny_no_other_hook_is_asked() -> None:
    asked: list[str] = []

    def notes(_inspection: Inspection, /) -> Opinion:
        asked.append("asked")
        return NOTHING_AGAINST_IT

    assert await consulted(says(DENIES), notes) == DENIES
    assert await consulted(later(DENIES), notes) == DENIES
    assert asked == []


@pytest.mark.req("SPEC-WATCH-10")
@pytest.mark.parametrize("hook", [raises, raises_later])
async def test_a_hook_that_raises_refuses_and_is_named(hook: Hook) -> None:
    opinion = await consulted(says(NOTHING_AGAINST_IT), hook)
    assert opinion.verdict == "deny"
    assert "raises" in opinion.reason
    assert "KeyError" in opinion.reason


@pytest.mark.parametrize("answer", [None, True, "allow", Opinion(cast("Any", "maybe"))])
async def test_an_answer_that_is_no_opinion_refuses(answer: Any) -> None:
    class Hooked:
        def __call__(self, _inspection: Inspection, /) -> Opinion:
            return answer

    opinion = await consulted(Hooked())
    assert opinion.verdict == "deny"
    assert "'Hooked' failed" in opinion.reason


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)

    __repr__ = __str__


@pytest.mark.parametrize("error", [SystemExit(3), CancelledError(), Unspeakable()])
async def test_a_hook_that_wants_to_end_more_than_itself_refuses(error: BaseException) -> None:
    def hook(_inspection: Inspection, /) -> Opinion:
        raise error

    opinion = await consulted(says(ASKS), hook, says(NOTHING_AGAINST_IT))
    assert opinion.verdict == "deny"
    assert "'hook' failed" in opinion.reason


async def test_an_awaited_hook_that_wants_to_end_the_program_refuses() -> None:
    async def hook(_inspection: Inspection, /) -> Opinion:
        raise SystemExit(3)

    assert (await consulted(hook)).verdict == "deny"


async def test_a_person_who_interrupts_is_not_a_hook_that_fails() -> None:
    def hook(_inspection: Inspection, /) -> Opinion:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await consulted(hook)


@pytest.mark.parametrize(
    "answer",
    [
        Unspeakable(),
        Opinion(cast("Any", Unspeakable())),
        Opinion("allow", cast("Any", Unspeakable())),
    ],
    ids=["exception", "verdict", "reason"],
)
async def test_an_answer_that_cannot_be_put_into_words_refuses(answer: Any) -> None:
    opinion = await consulted(lambda _inspection, /: answer)
    assert opinion.verdict == "deny"
    assert "which is no opinion" in opinion.reason


async def test_what_a_hook_says_in_error_is_one_short_line() -> None:
    def hook(_inspection: Inspection, /) -> Opinion:
        raise ValueError("a\nb\x1b[31m" + "x" * 10_000)

    reason = (await consulted(hook)).reason
    assert reason.isprintable()
    assert len(reason) < 300


def times_out(_inspection: Inspection, /) -> Opinion:
    raise TimeoutError


async def test_an_error_without_words_is_called_by_its_name() -> None:
    opinion = await consulted(times_out)
    assert opinion == Opinion("deny", "The watchdog 'times_out' failed (TimeoutError).")
