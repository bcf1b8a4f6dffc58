"""Skills: instructions that lie in files, found once and loaded when they are asked for."""

from typing import Protocol

import msgspec

from holdfast.contract.call_port import CallPort


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """One skill, as a model is told of it before it asks for the body."""

    name: str
    description: str
    """One line."""
    origin: str
    """The file it stands in."""


class Skills(CallPort, Protocol):
    """The skills of a session; which there are does not change in it."""

    def all(self) -> tuple[Skill, ...]:
        """Those that can be loaded, by name."""
        ...

    def body(self, name: str, /) -> str | None:
        """The instructions of a skill, the same each time; None: there is no such skill.

        Unavailable when its file is gone or changed into something else since it was found.
        """
        ...
