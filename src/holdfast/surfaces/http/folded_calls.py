"""The calls of a session, each with all that its events say of it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

import msgspec

from holdfast.contract.events import (
    ApprovalAnswered,
    ApprovalAsked,
    ApprovalWithdrawn,
    CallAsked,
    CallIntended,
    CallRefused,
    CallSettled,
    Event,
    InquiryAnswered,
    InquiryAsked,
    Payload,
)
from holdfast.contract.journal import MOST_EVENTS, Journal
from holdfast.contract.rules import Remember, Use
from holdfast.contract.session_state import CallStage

_KINDS = (
    *(CallIntended, CallRefused, CallSettled),
    *(ApprovalAsked, ApprovalAnswered, ApprovalWithdrawn, InquiryAsked, InquiryAnswered),
)


class ApprovalRow(msgspec.Struct, kw_only=True):
    """Whether somebody was asked for leave, and what they said."""

    approval_id: str
    reason: str
    uses: tuple[Use, ...] = ()
    offers: tuple[Remember, ...] = ()
    wider: tuple[str, ...] = ()
    allowed: bool | None = None
    by: str | None = None
    note: str | None = None
    remember: Remember | None = None


class CallRow(msgspec.Struct, kw_only=True):
    """One call."""

    session_id: str
    call_id: str
    sequence: int
    """Of the event that asked for it."""
    tool: str
    arguments: str
    """As the model wrote them."""
    stage: CallStage | Literal["settled"]
    """How far it has come; `settled`: it has its answer."""
    asked_at: datetime
    ended_at: datetime | None = None
    duration_ms: int | None = None
    grounds: str | None = None
    """Why it may run."""
    refused: str | None = None
    approval: ApprovalRow | None = None
    envelope: msgspec.Raw | None = None
    model_call_id: str | None = None


async def calls_of(journal: Journal, session_id: str, *, after: int, limit: int) -> list[CallRow]:
    """Those that were asked for behind a number, in order, so many at most."""
    found: dict[str, CallRow] = {}
    open_calls: set[str] = set()
    seen = after
    while True:
        page = await journal.events(session_id, after=seen, limit=MOST_EVENTS)
        for event in page:
            seen = event.sequence
            said = event.payload
            if isinstance(said, CallAsked):
                if len(found) < limit:
                    found[said.call_id] = _asked(event, said)
                    open_calls.add(said.call_id)
            elif isinstance(said, _KINDS) and (call := found.get(said.call_id)) is not None:
                _note(call, event, open_calls)
        full = len(found) >= limit and not open_calls
        if full or len(page) < MOST_EVENTS:
            return list(found.values())


def _asked(event: Event, said: CallAsked) -> CallRow:
    return CallRow(
        session_id=event.session_id,
        call_id=said.call_id,
        sequence=event.sequence,
        tool=said.tool,
        arguments=said.arguments,
        stage="asked",
        asked_at=event.at,
        model_call_id=said.model_call_id,
    )


_STAGES: Mapping[type[Payload], CallStage] = {
    ApprovalAnswered: "answered",
    ApprovalAsked: "waiting",
    ApprovalWithdrawn: "answered",
    CallIntended: "intended",
    InquiryAnswered: "replied",
    InquiryAsked: "inquiring",
}


def _note(call: CallRow, event: Event, open_calls: set[str]) -> None:
    """One more event of a call."""
    if (stage := _STAGES.get(type(event.payload))) is not None:
        call.stage = stage
    match event.payload:
        case ApprovalAsked() as said:
            call.approval = ApprovalRow(
                approval_id=said.approval_id,
                reason=said.reason,
                uses=said.uses,
                offers=said.offers,
                wider=said.wider,
            )
        case ApprovalAnswered() as said if call.approval is not None:
            call.approval.allowed, call.approval.by = said.allowed, said.by
            call.approval.note, call.approval.remember = said.note, said.remember
        case ApprovalWithdrawn(reason=grounds) | CallIntended(grounds=grounds):
            call.grounds = grounds
        case CallRefused(reason=reason):
            call.refused = reason
        case CallSettled(envelope=envelope):
            call.stage, call.envelope, call.ended_at = "settled", envelope, event.at
            call.duration_ms = _duration(envelope)
            open_calls.discard(call.call_id)
        case _:
            pass


class _Metadata(msgspec.Struct):
    duration_ms: int | None = None


class _Envelope(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


_read = msgspec.json.Decoder(_Envelope).decode


def _duration(envelope: msgspec.Raw) -> int | None:
    try:
        return _read(bytes(envelope)).metadata.duration_ms
    except msgspec.MsgspecError:
        return None
