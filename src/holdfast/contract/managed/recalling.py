"""What a session is reminded of when a run begins, and who else is asked around a run. Values, and
the ports behind which they stand.

A reminder is a hint: the step it ends in shows what is really there.
"""

from typing import Protocol

import msgspec

from holdfast.contract.outcomes import Confidence
from holdfast.contract.steps import Step

MOST_CANDIDATES, MOST_SKILLS, MOST_SESSIONS = 3, 2, 2
"""How many of each a run begins with; sessions only where nothing else was found."""


class Reminder(msgspec.Struct, frozen=True, kw_only=True):
    """Something that may help: a hit of a search, a skill, another session."""

    title: str
    source: str = ""
    """What kind of thing it is, as searches call it."""
    score: int = 0
    confidence: Confidence = "low"
    step: Step
    """What shows it as it is."""


class Recalled(msgspec.Struct, frozen=True, kw_only=True):
    """All that was found, the best first."""

    candidates: tuple[Reminder, ...] = ()
    plan: tuple[Step, ...] = ()
    """In which order to look."""
    skills: tuple[Reminder, ...] = ()
    sessions: tuple[Reminder, ...] = ()
    """The last active ones."""


class Recall(Protocol):
    """Looks for what may help, in all that the agent's sessions keep."""

    async def recalled(self, query: tuple[str, ...], /) -> Recalled:
        """What fits the parts of a query."""
        ...


class SetupWatch(Protocol):
    """Knows what the session stands on."""

    async def describe_now(self) -> bool:
        """Look at it, write it down where it changed, and say whether it did since the last run."""
        ...


class MemoryUpkeep(Protocol):
    """Keeps what sessions of the agent share up to date."""

    async def refresh(self) -> None:
        """A run has come to rest: take in what was learned in it."""
        ...
