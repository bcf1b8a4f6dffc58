"""The tool's own permission policy, and what a person's answer makes of a question.

Silence is not consent: without anybody to answer, a question is a denial by policy.
"""

import msgspec

from holdfast.contract.call import Ask, Deny, Permit, Prepared, Verdict
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import decode_json, encode_json
from holdfast.contract.ports import Answer

NOBODY_TO_ASK = (
    "This call needs a person's approval and nobody is there to give it. Continue without it, and"
    " say what you could not do."
)


def judge_by_tool(prepared: Prepared) -> Verdict:
    """Allow what the tool's own policy allows; ask where it wants a person."""
    tool = prepared.tool
    if tool.permission_policy == "always_allow":
        return Permit(prepared=prepared, grounds="the tool asks for no confirmation")
    return Ask(prepared=prepared, reason=f"Tool '{tool.name}' always asks before it runs.")


def shown_to_a_person(ask: Ask) -> Ask:
    """The question with its own copy of the arguments: whoever answers cannot change the call."""
    prepared = ask.prepared
    copied = decode_json(encode_json(prepared.arguments))
    arguments = copied if isinstance(copied, dict) else {}
    seen = msgspec.structs.replace(prepared, checked=arguments, values=arguments)
    return msgspec.structs.replace(ask, prepared=seen)


def decide(ask: Ask, answer: Answer | None) -> Permit | Deny:
    """Turn a person's answer, or its absence, into a verdict."""
    prepared = ask.prepared
    if answer is None:
        return Deny(prepared=prepared, kind=FailureKind.REJECTED, reason=NOBODY_TO_ASK)
    if answer.allowed:
        return Permit(prepared=prepared, grounds=f"approved by {answer.by}")
    note = f": {answer.note}" if answer.note else "."
    reason = f"The user denied confirmation for {prepared.tool.name}{note}"
    return Deny(prepared=prepared, kind=FailureKind.USER_DENIED, reason=reason)
