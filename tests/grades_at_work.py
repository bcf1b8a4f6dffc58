"""What tests of grades and verdicts share: an outcome, and what was done for it."""

import msgspec

from holdfast.contract.events import WantedOutcome
from holdfast.contract.outcomes import (
    Evidence,
    LastWake,
    Standing,
)

OUTCOME = WantedOutcome(
    title="The till adds up",
    detail="All of its tests have to pass.",
    success_criteria=("pytest tests/till.py passes", "`adds cents`"),
)
DONE = (
    Evidence(kind="output", text="$ pytest tests/till.py\n3 passed", event_id="evt_1"),
    Evidence(kind="message", text="I changed it: it adds cents now.", event_id="evt_2"),
)
WELL = LastWake(succeeded=True, came_to_rest=True, has_summary=True)


def standing(**more: object) -> Standing:
    given = {"outcome": OUTCOME, "last_wake_id": "wak_1", "evidence": DONE, **more}
    return msgspec.convert(given, Standing, from_attributes=True)
