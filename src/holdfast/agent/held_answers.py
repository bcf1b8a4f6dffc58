"""Answers that still hold: what may be given again in place of running a call.

An answer is held from one call to the next identical one. What drops it: a call that may have
changed what was read (see `roles`), a new message of the person, and a witness that says otherwise.

The witness is what makes this safe. A file is changed by more than the calls of this loop: a
command in the background, another session, a person in an editor. So nothing is held unless
somebody can tell that what was read is as it was: a `Witness` gives a text for the present state of
what a call would read, for a file say its inode, size and times of change, and None where that
cannot be told, as for a search. It is asked *before* a call runs and again before an answer is
given a second time; a change in between, also during the run, gives another text. Without a witness
nothing is ever held: reading a file again costs less than believing in one that is gone.

It holds no files and asks no disk; the witness is handed in.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from holdfast.agent.asked import Arguments, Asked, may_be_same, may_hold
from holdfast.agent.classify import LISTINGS, Answer, Seen
from holdfast.agent.roles import READ_LIKE, Role
from holdfast.contract.failure import FailureKind

Witness = Callable[[str, Arguments], str | None]
"""From the name and the arguments of a call: what stands for what it would read now."""

AnswerT = TypeVar("AnswerT", bound=Answer)

_MOST_HELD = 64
_NEVER_RAN = frozenset({FailureKind.REJECTED, FailureKind.USER_DENIED, FailureKind.TOOL_NOT_FOUND})
_MISSES: frozenset[Role] = frozenset({"read", "search", "write", "load"})
"""For these a not_found comes again as long as nothing is changed."""


def nobody_else(_name: str, _arguments: Arguments) -> str:
    """A witness for a place where nothing changes but by the calls of this loop."""
    return "unchanged"


class _Held(msgspec.Struct, Generic[AnswerT], frozen=True, kw_only=True):
    asked: Asked
    answer: AnswerT
    witness: str | None
    is_listing: bool
    failure_kind: str | None
    times: int


class HeldAnswers(Generic[AnswerT]):
    """The answers of one message that may be given again, the most recent few."""

    def __init__(self, witness: Witness | None) -> None:
        self._witness = witness
        self._before: dict[bytes, str | None] = {}
        self._held: dict[bytes, _Held[AnswerT]] = {}

    def clear(self) -> None:
        """Hold nothing."""
        self._before.clear()
        self._held.clear()

    def find(self, call: Asked, arguments: Arguments) -> AnswerT | None:
        """The answer that still holds; asked before every call, so that the witness is in time."""
        now = self._witness(call.name, arguments) if self._witness is not None else None
        self._before[call.key] = now
        held = self._held.get(call.key)
        return held.answer if held is not None and now is not None and held.witness == now else None

    def note(self, call: Asked, seen: Seen, answer: AnswerT) -> int:
        """Drop what the call may have changed, and hold its answer where it may be given again.

        How often in a row it has failed as it did now: 0 for what does not fail the same way again.
        """
        certain = is_certain(call.role, seen)
        before = self._held.get(call.key)
        if seen.failure_kind not in _NEVER_RAN:
            self._drop(call)
        witness = self._before.pop(call.key, None)
        if not certain and not (seen.succeeded and call.role in READ_LIKE):
            return 0
        failed_alike = certain and before is not None and _alike(before, seen, witness)
        self._held.pop(call.key, None)
        self._held[call.key] = _Held(
            asked=call,
            answer=answer,
            witness=witness,
            is_listing=seen.result_class in LISTINGS,
            failure_kind=seen.failure_kind,
            times=before.times + 1 if failed_alike and before is not None else 1,
        )
        if len(self._held) > _MOST_HELD:
            del self._held[next(iter(self._held))]
        return self._held[call.key].times if certain else 0

    def _drop(self, call: Asked) -> None:
        if call.role in ("execute", "unknown") or (call.role == "write" and call.path is None):
            self._held.clear()
        elif call.role == "write" and call.path is not None:
            path = call.path
            self._held = {key: one for key, one in self._held.items() if not _touched(one, path)}


def is_certain(role: Role, seen: Seen) -> bool:
    """Whether the same call fails the same way again, as long as nothing is changed."""
    if seen.failure_kind == FailureKind.NOT_FOUND:
        return role in _MISSES
    return seen.failure_kind == FailureKind.INVALID_ARGS


def _alike(before: _Held[AnswerT], seen: Seen, witness: str | None) -> bool:
    return before.failure_kind == seen.failure_kind and before.witness == witness


def _touched(one: _Held[AnswerT], path: str) -> bool:
    """Whether a change of the path may change that answer."""
    if one.asked.role == "search":
        return True
    read = one.asked.path
    return read is not None and (
        may_be_same(read, path) or (one.is_listing and may_hold(read, path))
    )
