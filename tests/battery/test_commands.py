"""Command texts that try to run what is denied, in three worlds, the hooks off."""

import anyio
import pytest
from battery.attempts_effects import ASSIGNMENTS, CHARACTERS, GIT, REDIRECTIONS
from battery.attempts_grammar import CODE, STRUCTURE, SUBSTITUTIONS
from battery.attempts_wrappers import FLAGS, LESS_KNOWN, SPELLINGS, UNKNOWN, WRAPPERS
from battery.kit import Attempt, World, assert_stopped_by, refused, told
from battery.worlds import named
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.policy.shell.characters import unreadable

GROUPS = {
    "wrappers": WRAPPERS,
    "less-known": LESS_KNOWN,
    "spellings": SPELLINGS,
    "structure": STRUCTURE,
    "substitutions": SUBSTITUTIONS,
    "code": CODE,
    "redirections": REDIRECTIONS,
    "assignments": ASSIGNMENTS,
    "git": GIT,
    "characters": CHARACTERS,
}
WITHIN_REACH = frozenset(
    {
        "git -C . --no-pager push origin",
        "env git push origin main",
        "cat < secret/key",
        "cat < out/key",
    }
)
"""What the requirements admit, and only a rule stops."""
EVERY = [
    pytest.param(attempt, id=f"{group}-{name}")
    for group, attempts in GROUPS.items()
    for attempt, name in zip(attempts, named(attempts), strict=True)
]


@pytest.mark.parametrize("attempt", EVERY)
async def test_everything_allowed_but_a_few_things_denied(all_but: World, attempt: Attempt) -> None:
    explanation = await refused(all_but, "sh", {"command": attempt.text})
    assert_stopped_by(explanation, attempt)


@pytest.mark.parametrize("attempt", EVERY)
async def test_another_tool_with_the_same_capability_is_no_way_around(
    all_but: World, attempt: Attempt
) -> None:
    explanation = await refused(all_but, "power", {"script": attempt.text})
    assert_stopped_by(explanation, attempt)


@pytest.mark.parametrize(
    "attempt", [*EVERY, *(pytest.param(one, id=f"unknown-{one.id}") for one in UNKNOWN)]
)
async def test_only_named_programs_allowed(only: World, attempt: Attempt) -> None:
    explanation = await refused(only, "sh", {"command": attempt.text})
    assert explanation.stage == ("rules" if unreadable(attempt.text) is None else "capabilities")


@pytest.mark.parametrize(
    "attempt", [*EVERY, *(pytest.param(one, id=f"unknown-{one.id}") for one in UNKNOWN)]
)
async def test_only_declared_programs_within_reach(declared: World, attempt: Attempt) -> None:
    explanation = await refused(declared, "sh", {"command": attempt.text})
    assert explanation.verdict == "deny"
    assert explanation.stage == ("rules" if attempt.text in WITHIN_REACH else "capabilities")


@pytest.mark.parametrize("attempt", FLAGS, ids=named(FLAGS))
async def test_flags_that_are_denied_are_denied_in_every_spelling(
    flags: World, attempt: Attempt
) -> None:
    assert_stopped_by(await refused(flags, "sh", {"command": attempt.text}), attempt)


@settings(deadline=None)
@given(
    st.sampled_from([attempt for attempts in GROUPS.values() for attempt in attempts]),
    st.text(alphabet=" \t", max_size=6),
)
def test_the_same_text_has_the_same_verdict_whatever_blanks_follow(
    all_but: World, attempt: Attempt, blanks: str
) -> None:
    if "<<" in attempt.text:
        return  # Behind the end of a here-document a blank is not harmless.
    bare = anyio.run(told, all_but, "sh", {"command": attempt.text})
    padded = anyio.run(told, all_but, "sh", {"command": attempt.text + blanks})
    assert bare == anyio.run(told, all_but, "sh", {"command": attempt.text})
    assert padded.verdict == bare.verdict
    assert [use.verdict for use in padded.uses] == [use.verdict for use in bare.uses]
