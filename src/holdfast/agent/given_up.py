"""Calls of a reply that are not made, and the answers they have instead.

A run that is broken off leaves none behind: whatever comes next, a person's words among it, must
not find calls that run before anybody has heard it.
"""

from collections.abc import Iterable

from holdfast.agent.place import Workplace
from holdfast.agent.replies import TurnCall
from holdfast.contract.builders import failure_of
from holdfast.contract.call import ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import Payload
from holdfast.contract.failure import FailureKind
from holdfast.runtime.recovery import settlement

BY_A_PERSON = "The user interrupted before this call ran."
BY_THE_END = "This call was not made: the run ended before it."


def unmade(place: Workplace, call: TurnCall) -> ToolCall:
    """A call that does not run, as it may be written down."""
    return ToolCall(
        id=call.id,
        tool=call.name,
        arguments=place.clean(call.arguments),
        session_id=place.session_id,
        model_call_id=call.model_call_id,
    )


def given_up(
    place: Workplace, calls: Iterable[TurnCall], known: Iterable[str], *, by_a_person: bool
) -> list[Payload]:
    """What is written of calls that have no answer when a run ends.

    ``known``: those that have begun. Only a person ends these: they may wait for somebody.
    """
    kind = FailureKind.USER_DENIED if by_a_person else FailureKind.REJECTED
    failure = failure_of(kind, BY_A_PERSON if by_a_person else BY_THE_END)
    begun = frozenset(known)
    return [
        one
        for call in calls
        if by_a_person or call.id not in begun
        for one in settlement(
            unmade(place, call),
            Envelope(failure=failure, tool=call.name, call_id=call.id),
            known=call.id in begun,
        )
    ]
