"""What somebody outside says to a session, as JSON: read, and taken in like any other word.

Fields are named as events name them; their camelCase spelling is taken for the same, and told as a
repair. What a session does with it is not known here.
"""

import msgspec

from holdfast.app.ingress import (
    confirm,
    custom_result,
    define_outcome,
    interrupt,
    send_message,
)
from holdfast.contract.envelope import Repair
from holdfast.contract.events import (
    CustomToolResult,
    OutcomeDefined,
    ToolConfirmation,
    UserInterrupt,
    UserMessage,
    WantedOutcome,
)
from holdfast.contract.journal import Journal, NotFitting
from holdfast.contract.json_value import JsonObject, JsonValue, clean_text
from holdfast.contract.ports import Answer
from holdfast.envelope.redact import Redactor

UserEvent = UserMessage | OutcomeDefined | UserInterrupt | ToolConfirmation | CustomToolResult
BY = "somebody outside"
"""Who answers a confirmation that comes as an event."""

_FIELDS = {
    "requestId": "request_id",
    "toolName": "tool_name",
    "successCriteria": "success_criteria",
}
_INSIDE = "outcome"


class Read(msgspec.Struct, frozen=True):
    """An event of somebody, and what was made right in it."""

    event: UserEvent
    repairs: tuple[Repair, ...] = ()


def read_user_event(sent: JsonObject) -> Read:
    """Read one; NotFitting says which field is wrong."""
    done: list[Repair] = []
    fields = _respelled(sent, "", done)
    outcome = fields.get(_INSIDE)
    if isinstance(outcome, dict):
        fields[_INSIDE] = _respelled(outcome, f"{_INSIDE}.", done)
    try:
        return Read(msgspec.convert(fields, UserEvent), tuple(done))
    except msgspec.ValidationError as problem:
        raise NotFitting(f"this is no event that a person can send: {problem}") from None


async def take_user_event(
    journal: Journal, session_id: str, sent: JsonObject, redactor: Redactor
) -> Read:
    """Read one and give it to a session; NotFitting, UnknownSession."""
    read = read_user_event(sent)
    match read.event:
        case UserMessage(message=message):
            await send_message(journal, session_id, message, redactor)
        case UserInterrupt(note=note):
            await interrupt(journal, session_id, redactor, note)
        case ToolConfirmation() as said:
            await _confirmed(journal, session_id, said, redactor)
        case CustomToolResult(request_id=request_id, output=output):
            await custom_result(journal, session_id, request_id, output, redactor)
        case OutcomeDefined(outcome=outcome):
            await define_outcome(journal, session_id, _clean(outcome, redactor))
    return read


async def _confirmed(
    journal: Journal, session_id: str, said: ToolConfirmation, redactor: Redactor
) -> None:
    answer = Answer(allowed=said.allowed, by=BY, note=said.note)
    await confirm(journal, session_id, said.request_id, answer, redactor)


def _respelled(sent: JsonObject, where: str, done: list[Repair]) -> dict[str, JsonValue]:
    found = dict(sent)
    for other, name in _FIELDS.items():
        if other in found and name not in found:
            found[name] = found.pop(other)
            done.append(Repair("renamed_key", f"{where}{name}", other))
    return found


def _clean(outcome: WantedOutcome, redactor: Redactor) -> WantedOutcome:
    def text(given: str) -> str:
        plain = clean_text(given)
        return redactor.text(plain) if redactor.active else plain

    if not outcome.title.strip():
        raise NotFitting("the outcome has no title; say in a few words what is to come of it")
    criteria = dict.fromkeys(text(one).strip() for one in outcome.success_criteria)
    return WantedOutcome(
        title=text(outcome.title).strip(),
        detail=None if outcome.detail is None else text(outcome.detail),
        success_criteria=tuple(filter(None, criteria)),
    )
