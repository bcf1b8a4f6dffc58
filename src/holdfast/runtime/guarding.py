"""A tool's own look at the arguments of a call, before anything is judged."""

from holdfast.contract.builders import failure_of
from holdfast.contract.call import Prepared, Rejected
from holdfast.contract.failure import FailureKind
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.tool import Guard


def guarded(
    prepared: Prepared | Rejected, guard: Guard, session: SessionFacts
) -> Prepared | Rejected:
    """The call, or what its tool says is wrong with it."""
    if isinstance(prepared, Rejected):
        return prepared
    fault = guard(prepared.arguments, session)
    if fault is None:
        return prepared
    failure = failure_of(FailureKind.INVALID_ARGS, fault.message, field=fault.field)
    return Rejected(
        call=prepared.call, failure=failure, sent=prepared.arguments, repairs=prepared.repairs
    )
