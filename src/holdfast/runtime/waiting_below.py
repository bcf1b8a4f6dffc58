"""Calls that wait for a session below them: whether that can go on, and its end where nobody waits.

A subagent that needs a person is left in the middle, and so is the call that waits for it. Whoever
answers writes it down below; here it is found, and said to the sessions above, from the lowest one
up. Who runs any of them is not known here.
"""

from holdfast.contract.builders import failure_of
from holdfast.contract.call import ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.events import ChildAnswered, Payload, SessionClosed
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.journal import Journal, NotFitting, UnknownSession
from holdfast.contract.session_state import is_answered
from holdfast.runtime.recovery import ABORTED, settlement

_GIVEN_UP = "This call was not made: nobody waits for this subagent any more."


async def hear_below(journal: Journal, session_id: str) -> bool:
    """Say to a session which of those below it can go on; whether any can. JournalError."""
    heard = False
    for call_id, call in (await journal.session(session_id)).state.calls.items():
        if call.child is None or call.stage != "inquiring":
            continue
        below = (await journal.session(call.child)).state
        if await hear_below(journal, call.child) or is_answered(below):
            answered = ChildAnswered(call_id=call_id, child_session_id=call.child)
            try:
                await journal.append(session_id, [answered])
            except NotFitting:
                continue  # somebody else has said so
            heard = True
    return heard


async def end_below(journal: Journal, session_id: str) -> None:
    """End a session that nobody waits for any more, with all below it: what it asks is void."""
    try:
        state = (await journal.session(session_id)).state
    except UnknownSession:
        return
    if state.status == "terminated":
        return
    ended: list[Payload] = []
    for call_id, call in state.calls.items():
        if call.child is not None:
            await end_below(journal, call.child)
        asked = ToolCall(id=call_id, tool="", arguments=None, session_id=session_id)
        failure = _failure(begun=call.stage == "intended")
        ended += settlement(asked, Envelope(failure=failure, call_id=call_id), known=True)
    await journal.append(session_id, [*ended, SessionClosed(reason="nobody waits for it")])


def _failure(*, begun: bool) -> Failure:
    """Of a call that had begun nobody knows how far it came."""
    if begun:
        return failure_of(FailureKind.EXECUTION_ERROR, ABORTED, retryable=False)
    return failure_of(FailureKind.USER_DENIED, _GIVEN_UP)
