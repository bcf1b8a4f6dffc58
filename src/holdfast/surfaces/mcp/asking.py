"""The approver and the asker of a session that clients share: each call asks through its own.

Where a client cannot ask a person, nobody is there: a question is a refusal at once.
"""

from holdfast.contract.call import Ask
from holdfast.contract.errors import PolicyDenied
from holdfast.contract.person import Inquiry, Replies
from holdfast.contract.ports import Answer
from holdfast.policy.words import NO_ANSWERS
from holdfast.surfaces.mcp.calls import Call
from holdfast.surfaces.mcp.forms import (
    approval_answer,
    approval_form,
    form_name,
    inquiry_form,
    inquiry_replies,
)


class Asking:
    """Finds the call that a question belongs to."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}

    def begin(self, call: Call) -> None:
        """The call may ask."""
        self._calls[call.key] = call

    def end(self, call: Call) -> None:
        """It is over."""
        self._calls.pop(call.key, None)

    def stop_all(self) -> None:
        """No call is wanted any more."""
        for call in list(self._calls.values()):
            call.abort.set()

    async def approve(self, ask: Ask, /) -> Answer | None:
        """Whether a call may run; None: nobody is there."""
        call = self._of(ask.prepared.call.model_call_id)
        said = None if call is None else await call.ask("approval", approval_form(ask), bound=True)
        return None if said is None or call is None else approval_answer(ask, said, _who(call))

    async def inquire(self, inquiry: Inquiry, /) -> Replies | None:
        """What a tool wants to know; PolicyDenied: nobody is there."""
        call = self._of(inquiry.model_call_id)
        if call is None or not call.caller.elicits:
            raise PolicyDenied(NO_ANSWERS)
        said = await call.ask(form_name(inquiry), inquiry_form(inquiry), bound=False)
        return None if said is None else inquiry_replies(inquiry, said, _who(call))

    def _of(self, key: str | None) -> Call | None:
        return None if key is None else self._calls.get(key)


def _who(call: Call) -> str:
    return f"somebody at {call.caller.name or 'a client'} (MCP)"
