"""Skills as the managed tools tell of them: a glimpse of each, and the call that reads it whole."""

from typing import Protocol

import msgspec

from holdfast.contract.call_port import CallPort
from holdfast.contract.steps import Step

MOST_CHARS = 24_000
"""Of a body, unless more is asked for."""
LONGEST_BODY = 300_000
"""No file of a skill is longer."""
PREVIEW_LINES, PREVIEW_CHARS = 3, 220


class SkillEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One skill."""

    name: str
    description: str
    preview: str
    """The first lines of its body."""
    source: str
    """The folder of skills that it is found in."""
    next_step: Step | None
    """What gives its body; None: this agent has no such tool."""


class SkillHit(SkillEntry, frozen=True, kw_only=True):
    """A skill that fits."""

    score: int
    reasons: tuple[str, ...]
    file_path: str
    base_dir: str
    """What its body may name is found from here."""


class SkillList(msgspec.Struct, frozen=True, kw_only=True):
    """The skills there are, by name."""

    count: int
    skills: tuple[SkillEntry, ...]
    artifact_path: str | None = None


class SkillHits(msgspec.Struct, frozen=True, kw_only=True):
    """Those that fit, the best first."""

    count: int
    hits: tuple[SkillHit, ...]


class SkillBody(msgspec.Struct, frozen=True, kw_only=True):
    """A skill with what it says."""

    name: str
    description: str
    source: str
    file_path: str
    base_dir: str
    content: str
    truncated: bool
    next_step: Step | None = None
    """Where it is cut: what reads all of it."""


class SkillBook(CallPort, Protocol):
    """The skills of the calling session. Blocking."""

    def all(self) -> SkillList:
        """All of them."""
        ...

    def search(self, query: str, limit: int, /) -> SkillHits:
        """Those whose name, description or source fits."""
        ...

    def read(self, name: str, max_chars: int, /) -> SkillBody:
        """One of them; InvalidArguments where there is none of this name."""
        ...
