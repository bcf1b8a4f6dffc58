"""Questions that wait for a person, and answers that wait to be used.

An answer is bound to the hash of the exact call it was given for, is used once, and expires when it
is not used; a question stays open until it is answered or withdrawn. Keeping all this across a
restart is not done here.
"""

import hashlib
from datetime import datetime, timedelta

import msgspec

from holdfast.contract.call import Ask, Prepared
from holdfast.contract.json_value import JsonObject, decode_json, encode_json
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Remember, Use
from holdfast.contract.tool import Ownership, PermissionPolicy

UNUSED_FOR = timedelta(minutes=10)


class ApprovalError(ValueError):
    """An answer that fits no open question; the message says why."""


class ApprovalRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One open question, as a surface shows it."""

    id: str
    call_hash: str
    session_id: str
    call_id: str
    tool_name: str
    ownership: Ownership
    permission_policy: PermissionPolicy
    input: JsonObject
    """The arguments after repair."""
    reason: str
    uses: tuple[Use, ...]
    offers: tuple[Remember, ...]
    wider: tuple[str, ...]
    requested_at: datetime


class _Given(msgspec.Struct, frozen=True):
    answer: Answer
    at: datetime


def call_hash(prepared: Prepared) -> str:
    """The fingerprint of exactly this call: its id, its tool and its arguments after repair."""
    call = prepared.call
    exact = [call.session_id, call.id, prepared.tool.name, prepared.arguments]
    return hashlib.sha256(encode_json(exact)).hexdigest()


def shown_to_a_person(ask: Ask) -> Ask:
    """The question with its own copy of the arguments: whoever answers cannot change the call."""
    prepared = ask.prepared
    copied = decode_json(encode_json(prepared.arguments))
    arguments = copied if isinstance(copied, dict) else {}
    seen = msgspec.structs.replace(prepared, checked=arguments, values=arguments)
    return msgspec.structs.replace(ask, prepared=seen)


class ApprovalLedger:
    """Open questions and unused answers."""

    def __init__(self, *, unused_for: timedelta = UNUSED_FOR) -> None:
        self._unused_for = unused_for
        self._open: dict[str, ApprovalRequest] = {}
        self._given: dict[str, _Given] = {}

    @property
    def pending(self) -> tuple[ApprovalRequest, ...]:
        """The open questions, the oldest first."""
        return tuple(self._open.values())

    def request(self, ask: Ask, request_id: str, at: datetime) -> ApprovalRequest:
        """Open a question; the same call asks only once."""
        fingerprint = call_hash(ask.prepared)
        for known in self._open.values():
            if known.call_hash == fingerprint:
                return known
        tool = ask.prepared.tool
        made = ApprovalRequest(
            id=request_id,
            call_hash=fingerprint,
            session_id=ask.prepared.call.session_id,
            call_id=ask.prepared.call.id,
            tool_name=tool.name,
            ownership=tool.ownership,
            permission_policy="always_ask"
            if tool.always_asks(ask.prepared.arguments)
            else "always_allow",
            input=ask.prepared.arguments,
            reason=ask.reason,
            uses=ask.uses,
            offers=ask.offers,
            wider=ask.wider,
            requested_at=at,
        )
        self._open[request_id] = made
        return made

    def answer(self, request_id: str, tool_name: str, answer: Answer, at: datetime) -> None:
        """Take a person's answer; ApprovalError when it fits no open question."""
        if request_id in self._given:
            raise ApprovalError(f"already recorded a tool confirmation for {request_id}")
        known = self._open.get(request_id)
        if known is None or known.tool_name != tool_name:
            if not any(one.tool_name == tool_name for one in self._open.values()):
                raise ApprovalError(
                    f"does not have a pending tool confirmation request for {tool_name}"
                )
            raise ApprovalError(
                f"pending tool confirmation request does not match {request_id}/{tool_name}"
            )
        self._given[request_id] = _Given(answer, at)

    def use(self, request_id: str, prepared: Prepared, at: datetime) -> Answer | None:
        """Use an answer up, for exactly the call it was given for; None when it cannot be used."""
        known, given = self._open.get(request_id), self._given.pop(request_id, None)
        if known is None or given is None:
            return None
        del self._open[request_id]
        expired = at - given.at > self._unused_for
        if expired or known.call_hash != call_hash(prepared):
            return None
        return given.answer

    def withdraw(self, request_id: str) -> None:
        """Close a question nobody waits for any more."""
        self._open.pop(request_id, None)
        self._given.pop(request_id, None)
