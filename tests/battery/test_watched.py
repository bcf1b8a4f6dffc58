"""With the hooks on and everything allowed: the share of the battery that the watchdog holds."""

import pytest
from battery.attempts_watched import WATCHED
from battery.kit import Attempt, World, assert_stopped_by, refused
from battery.worlds import named


@pytest.mark.parametrize("attempt", WATCHED, ids=named(WATCHED))
async def test_what_the_hooks_see(watched: World, attempt: Attempt) -> None:
    explanation = await refused(watched, "sh", {"command": attempt.text})
    assert_stopped_by(explanation, attempt)


@pytest.mark.parametrize("attempt", WATCHED, ids=named(WATCHED))
async def test_another_tool_is_seen_as_well(watched: World, attempt: Attempt) -> None:
    explanation = await refused(watched, "power", {"script": attempt.text})
    assert_stopped_by(explanation, attempt)
