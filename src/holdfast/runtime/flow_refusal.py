"""A call that a flow loop refuses itself: judged by nobody, and written down as any other."""

from holdfast.contract.call import ToolCall
from holdfast.contract.envelope import Envelope, Metadata
from holdfast.contract.failure import Failure
from holdfast.envelope.redact import Redactor
from holdfast.runtime.output import bounded_refusal
from holdfast.runtime.refusals import MAX_NAME_CHARACTERS
from holdfast.runtime.session_log import SessionLog
from holdfast.runtime.trail import Trail


async def refused(
    call: ToolCall, failure: Failure, log: SessionLog | None, redactor: Redactor
) -> Envelope:
    """Its answer, without secrets, and in the journal where there is one."""
    envelope = bounded_refusal(
        Envelope(
            failure=failure,
            tool=call.tool[:MAX_NAME_CHARACTERS],
            call_id=call.id,
            metadata=Metadata(duration_ms=0),
        )
    )
    answer = redactor.envelope(envelope) if redactor.active else envelope
    return answer if log is None else await Trail(log, redactor, call).settled(answer)
