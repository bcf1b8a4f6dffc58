"""The way of a call: each value contains the one before it.

    ToolCall ─preflight→ Prepared │ Rejected
                         Prepared ─policy→ Permit │ Ask │ Deny      Ask ─approver→ Permit │ Deny
                                           Permit ─execution→ Outcome

Execution accepts only a Permit, and only the policy room makes one
(`tests/architecture/test_permits.py`).
"""

from collections.abc import Mapping
from typing import Literal, cast

import msgspec

from holdfast.contract.envelope import Repair
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject, decode_json
from holdfast.contract.rules import Remember, Use
from holdfast.contract.tool import Tool

RawArguments = str | bytes | Mapping[str, object] | None
"""Arguments as they arrive: JSON text as a model writes it, or an object."""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for, unchecked."""

    id: str
    tool: str
    arguments: RawArguments
    session_id: str
    model_call_id: str | None = None
    """The id the calling model gave, kept beside ours."""


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A call whose arguments are repaired, checked and decoded."""

    call: ToolCall
    tool: Tool
    values: Mapping[str, object]
    """The arguments as the body takes them."""
    checked: JsonObject | None
    """The arguments as JSON; None: as the text of the call says."""
    repairs: tuple[Repair, ...] = ()

    @property
    def arguments(self) -> JsonObject:
        """The arguments as JSON: what policy judges and a person is shown.

        Clean text is read only when somebody asks: most calls run without that.
        """
        if self.checked is not None:
            return self.checked
        return cast("JsonObject", decode_json(cast("str | bytes", self.call.arguments)))


class Rejected(msgspec.Struct, frozen=True, kw_only=True):
    """A call that cannot run as it is."""

    call: ToolCall
    failure: Failure
    sent: JsonObject = {}
    """The arguments, as far as they could be read."""
    repairs: tuple[Repair, ...] = ()


class Permit(msgspec.Struct, frozen=True, kw_only=True):
    """Leave to run exactly this call."""

    prepared: Prepared
    grounds: str
    """Who or what allowed it."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A person has to decide."""

    prepared: Prepared
    reason: str
    uses: tuple[Use, ...] = ()
    """What of the call is in question."""
    offers: tuple[Remember, ...] = ("once",)
    """For how long the answer may hold."""
    wider: tuple[str, ...] = ()
    """Patterns that may be remembered beside exactly that, by somebody who was shown them."""
    approval_id: str | None = None
    """What the question is called, where it is written down."""


class Deny(msgspec.Struct, frozen=True, kw_only=True):
    """The call may not run."""

    prepared: Prepared
    kind: Literal[FailureKind.REJECTED, FailureKind.USER_DENIED]
    reason: str
    why: str | None = None
    """What a person would have been asked, where nobody was there to be."""
    note: str | None = None
    """What the person who refuses it says to the model; None: no more than no."""


Verdict = Permit | Ask | Deny


class Returned(msgspec.Struct, frozen=True):
    """The body came back with a value."""

    value: object


class Raised(msgspec.Struct, frozen=True):
    """The body raised."""

    error: BaseException


class TimedOut(msgspec.Struct, frozen=True):
    """The body was still running at its deadline."""

    seconds: float


class Interrupted(msgspec.Struct, frozen=True):
    """The body was stopped before its end."""


Ending = Returned | Raised | TimedOut | Interrupted


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How one execution ended."""

    permit: Permit
    ending: Ending
