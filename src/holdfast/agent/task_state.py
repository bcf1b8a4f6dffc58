"""Where a run stands: is it getting anywhere, and has it seen this answer before?

It is told of every answer a model is given and advises for the next step. It never blocks a call
and runs nothing. How a loop uses it, for each call: `held` first; where that gives an answer, the
call is not run; either way `record` what the model is told; `notice` then goes along with the next
step, and with no other.
"""

from collections.abc import Mapping
from typing import Generic

import msgspec

from holdfast.agent import nudges
from holdfast.agent.asked import Arguments, Asked, asked
from holdfast.agent.classify import LISTINGS, ResultClass, Seen, look_at
from holdfast.agent.held_answers import AnswerT, HeldAnswers, Witness
from holdfast.agent.roles import NAMED, READ_LIKE, Role
from holdfast.contract.failure import FailureKind

_LISTINGS_IN_A_ROW = 2
_REPEATS = 3
_UNKNOWN_TOOLS_IN_A_ROW = 2
_FAILURES_ALIKE = 2
_SEARCH_BESIDE = {
    "read": "glob",
    "file_read": "file_search",
    "sandbox_read_file": "sandbox_search_files",
}
"""What searches by name, beside what lists."""
_BY_CONTENT = frozenset({"grep", "repo_overview"})
"""Searches, and not by name."""


class _LastListing(msgspec.Struct, frozen=True):
    tool: str
    path: str | None
    result_class: ResultClass


class TaskState(Generic[AnswerT]):
    """The state of one run over a session; of envelopes, or of their texts.

    ``roles``: of the tools at hand, see `roles.roles_of`; it may grow while the run lasts. What is
    not in it is known by its name, and is not advised; None: nobody knows which tools there are.
    ``witness``: see `held_answers`; without one nothing is held.
    ``nudging``: whether there are notices at all.
    """

    def __init__(
        self,
        roles: Mapping[str, Role] | None = None,
        *,
        witness: Witness | None = None,
        nudging: bool = True,
    ) -> None:
        self._roles: Mapping[str, Role] = {} if roles is None else roles
        self._knows_tools = roles is not None
        self._nudging = nudging
        self._held: HeldAnswers[AnswerT] = HeldAnswers(witness)
        self._listing: _LastListing | None = None
        self._forget()

    def _forget(self) -> None:
        self._held.clear()
        self._listings = 0
        self._unknown_tools = 0
        self._last: Asked | None = None
        self._same_call = 0
        self._same_name = 0
        self._notice: str | None = None

    def begin_message(self) -> None:
        """A person spoke: everything starts anew, and only the last listing is remembered."""
        self._forget()

    @property
    def last_listing_path(self) -> str | None:
        """Which directory was listed most recently."""
        return self._listing.path if self._listing is not None else None

    def held(self, name: str, arguments: Arguments) -> AnswerT | None:
        """The answer to give in place of running the call: what the same call answered, unchanged.

        None: run it. To be asked before every call, as the witness has to be asked then. An
        envelope that is given again bears the id of the call that it was made for.
        """
        return self._held.find(self._asked(name, arguments), arguments)

    def record(self, name: str, arguments: Arguments, answer: AnswerT) -> None:
        """The model is told this answer, run for it or held."""
        call, seen = self._asked(name, arguments), look_at(answer)
        self._count(call, seen)
        failures = self._held.note(call, seen, answer)
        if seen.result_class in LISTINGS:
            path = seen.listed if seen.listed is not None else call.path
            self._listing = _LastListing(call.name, path, seen.result_class)
        self._notice = self._advice(call, seen, failures)

    def notice(self) -> str | None:
        """What to tell the model with its next step, after the last answer."""
        return self._notice if self._nudging else None

    def _asked(self, name: str, arguments: Arguments) -> Asked:
        return asked(name, arguments, self._roles.get(name) or NAMED.get(name, "unknown"))

    def _count(self, call: Asked, seen: Seen) -> None:
        last, self._last = self._last, call
        self._same_call = self._same_call + 1 if last and last.key == call.key else 1
        self._same_name = self._same_name + 1 if last and last.name == call.name else 1
        unknown = seen.failure_kind == FailureKind.TOOL_NOT_FOUND
        self._unknown_tools = self._unknown_tools + 1 if unknown else 0
        if seen.result_class in LISTINGS:
            self._listings += 1
        elif seen.result_class == "file_content":
            self._listings = 0

    def _advice(self, call: Asked, seen: Seen, failures: int) -> str | None:
        """The most urgent advice: a repeated call, then plans, then what came back."""
        lost = self._unknown_tools >= _UNKNOWN_TOOLS_IN_A_ROW
        if call.role not in READ_LIKE and self._same_call >= _REPEATS:
            said = nudges.repeated(call.name, self._same_call)
            return f"{said} {nudges.OFFERED_TOOLS}" if lost else said
        if call.role == "plan" and self._same_name >= _REPEATS:
            return nudges.planning(call.name, self._same_name)
        if lost:
            return nudges.OFFERED_TOOLS
        said = self._about(seen)
        if failures < _FAILURES_ALIKE:
            return said
        again = nudges.failed_again(failures)
        return again if said is None else f"{said} {again}"

    def _about(self, seen: Seen) -> str | None:
        last = self._listing
        if seen.result_class == "not_found":
            last_class = last.result_class if last is not None else None
            return nudges.missed(last_class, self.last_listing_path, self._searching)
        if seen.result_class in LISTINGS and self._listings >= _LISTINGS_IN_A_ROW:
            return nudges.wandering(seen.result_class, self.last_listing_path, self._searching)
        return None

    @property
    def _searching(self) -> str | None:
        """The tool to search by name with, as far as it is known."""
        beside = None if self._listing is None else _SEARCH_BESIDE.get(self._listing.tool)
        if not self._knows_tools:
            return beside
        there = [name for name, role in self._roles.items() if role == "search"]
        wanted = (
            beside,
            *_SEARCH_BESIDE.values(),
            *(one for one in there if one not in _BY_CONTENT),
        )
        return next((name for name in wanted if name in there), None)
