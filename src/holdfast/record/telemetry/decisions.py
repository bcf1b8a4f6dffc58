"""The decisions over one call, each to become a span `permission.evaluate` inside of the call's."""

from typing import NamedTuple

from opentelemetry.util.types import AttributeValue

from holdfast.contract.events import ApprovalAnswered, ApprovalAsked, CallIntended, CallRefused
from holdfast.record.telemetry import attributes as names
from holdfast.record.telemetry.grounds import Decided, allowed_by, asked_by, denied_by
from holdfast.record.telemetry.traced import TracedSession

SPAN = "permission.evaluate"


class Decision(NamedTuple):
    """One of them, from when it was in question until it was decided."""

    began: int
    ended: int
    attributes: dict[str, AttributeValue]


class Decisions:
    """Those over one call, in the order they were made."""

    def __init__(self, session: TracedSession) -> None:
        self._session = session
        self._asked: tuple[int, dict[str, AttributeValue]] | None = None
        """Since when a person has been asked, and what of it is told."""
        self._made: list[Decision] = []

    def taken(self) -> list[Decision]:
        """What was decided and not yet taken."""
        made, self._made = self._made, []
        return made

    def asks(self, said: ApprovalAsked, at: int) -> None:
        """A person is asked."""
        self.ends_question(at)
        used = dict.fromkeys(use.capability for use in said.uses if use.capability)
        targets = ", ".join(use.target for use in said.uses)
        told = self._told("ask", asked_by(said.reason), said.reason)
        told |= names.known(
            {
                names.CAPABILITIES: tuple(used) or None,
                names.PATTERN: self._session.told(targets or None),
            }
        )
        self._asked = at, told

    def answered(self, said: ApprovalAnswered, at: int) -> None:
        """They answered, or nobody was there."""
        if self._asked is not None:
            self._asked[1].update(
                names.known({names.REMEMBER: said.remember, names.BY: self._session.told(said.by)})
            )
        self.ends_question(at, allowed=said.allowed)

    def allows(self, said: CallIntended, at: int) -> None:
        """It may run."""
        self.ends_question(at, allowed=True)  # whoever answered may have done so elsewhere
        self._add("allow", allowed_by(said.grounds), said.grounds, at)

    def denies(self, said: CallRefused, at: int) -> None:
        """It may not run."""
        self.ends_question(at, allowed=False)
        self._add("deny", denied_by(said.kind, said.reason), said.reason, at)

    def ends_question(self, at: int, *, allowed: bool | None = None) -> None:
        """Nobody waits for a person any more. ``allowed``: None where nobody heard the answer."""
        if self._asked is None:
            return
        began, told = self._asked
        self._asked = None
        if allowed is None:
            told[names.UNFINISHED] = True
        else:
            told[names.ALLOWED] = allowed
        self._made.append(Decision(began, at, told))

    def _add(self, action: str, decided: Decided, words: str, at: int) -> None:
        self._made.append(Decision(at, at, self._told(action, decided, words)))

    def _told(self, action: str, decided: Decided, words: str) -> dict[str, AttributeValue]:
        return names.known(
            {
                names.ACTION: action,
                names.SOURCE: decided.source,
                names.GROUNDS: decided.rule,
                names.REASON: self._session.told(words),
            }
        )
