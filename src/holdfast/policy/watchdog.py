"""Asking every hook about a call: the strictest opinion counts, and a hook that fails refuses.

It can only narrow. What the opinion means together with the rules is `judge`'s work. A hook that is
not our own comes here with its time limit around it; how that is kept is not known here.
"""

import inspect
from collections.abc import Awaitable, Sequence
from collections.abc import Set as AbstractSet
from typing import cast

from holdfast.contract.json_value import text_of
from holdfast.contract.rules import ACTIONS
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Hook, Inspection, Opinion
from holdfast.policy.rules import STRICTNESS
from holdfast.policy.words import one_line

_LONGEST_ANSWER = 200
"""How much of what a hook says in error is passed on."""


class Specialist:
    """A hook that has something to say only of calls that use certain capabilities."""

    def __init__(self, hook: Hook, *capabilities: str) -> None:
        self.__name__ = name_of(hook)
        self.capabilities = frozenset(capabilities)
        self._hook = hook

    def __call__(self, inspection: Inspection, /) -> Opinion | Awaitable[Opinion]:
        """Give an opinion."""
        return self._hook(inspection)


class Watchdog:
    """All hooks of a session."""

    def __init__(self, hooks: Sequence[Hook] = ()) -> None:
        self._hooks = tuple(hooks)

    def __bool__(self) -> bool:
        return bool(self._hooks)

    def about(self, capabilities: AbstractSet[str | None]) -> "Watchdog":
        """The hooks that can have something to say of a call that uses these."""
        return Watchdog(
            [
                hook
                for hook in self._hooks
                if not isinstance(hook, Specialist) or hook.capabilities & capabilities
            ]
        )

    def consult(self, inspection: Inspection) -> Opinion | Awaitable[Opinion]:
        """The strictest opinion of all hooks; to be awaited only when a hook has to be."""
        strictest = NOTHING_AGAINST_IT
        for place, hook in enumerate(self._hooks):
            try:
                opinion = hook(inspection)
                if not isinstance(opinion, Opinion) and inspect.isawaitable(opinion):
                    return self._wait(opinion, place, inspection, strictest)
            except KeyboardInterrupt:
                raise
            except BaseException as problem:  # noqa: BLE001 - foreign code; nothing was awaited here
                return _failed(hook, problem)
            strictest = stricter(strictest, _checked(hook, opinion))
            if strictest.verdict == "deny":
                return strictest
        return strictest

    async def _wait(
        self, waiting: Awaitable[Opinion], place: int, inspection: Inspection, strictest: Opinion
    ) -> Opinion:
        hook = self._hooks[place]
        try:
            opinion = await waiting
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - a hook is foreign code
            return _failed(hook, problem)
        strictest = stricter(strictest, _checked(hook, opinion))
        if strictest.verdict == "deny":
            return strictest
        rest = Watchdog(self._hooks[place + 1 :]).consult(inspection)
        later = rest if isinstance(rest, Opinion) else await rest
        return stricter(strictest, later)


def stricter(one: Opinion, other: Opinion) -> Opinion:
    """The stricter of two opinions; the first, where they agree."""
    return other if STRICTNESS[other.verdict] > STRICTNESS[one.verdict] else one


def _checked(hook: Hook, given: object) -> Opinion:
    if type(given) is Opinion and type(given.reason) is str:
        verdict = cast("object", given.verdict)
        if type(verdict) is str and verdict in ACTIONS:
            return given
    said = one_line(text_of(given), _LONGEST_ANSWER)
    return _failed(hook, TypeError(f"it answered {said!r}, which is no opinion"))


def name_of(hook: Hook) -> str:
    """What a person calls the hook."""
    return str(getattr(hook, "__name__", type(hook).__name__))


def _failed(hook: Hook, problem: BaseException) -> Opinion:
    said = one_line(text_of(problem), _LONGEST_ANSWER)
    why = f"{type(problem).__name__}: {said}" if said else type(problem).__name__
    return Opinion("deny", f"The watchdog '{name_of(hook)}' failed ({why}).")
