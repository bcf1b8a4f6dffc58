"""The last step of preflight, for tools that guard their arguments: what could not be meant.

It comes before the policy: what a model wrote wrongly is told as that, and not as a refusal.
"""

from holdfast.contract.builders import failure_of
from holdfast.contract.call import Prepared, Rejected
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.runtime import SessionFacts
from holdfast.policy import path_guard


def guarded(prepared: Prepared | Rejected, session: SessionFacts) -> Prepared | Rejected:
    """The call as it is, or what is wrong with it."""
    if isinstance(prepared, Rejected):
        return prepared
    failure = _of_paths(prepared, session.workspace) or _of_its_tool(prepared, session)
    if failure is None:
        return prepared
    return Rejected(
        call=prepared.call, failure=failure, sent=prepared.arguments, repairs=prepared.repairs
    )


def _of_paths(prepared: Prepared, home: str | None) -> Failure | None:
    """Why one of its paths is not taken. Without a home policy decides."""
    if home is None:
        return None
    for name in sorted(prepared.tool.guarded):
        given = prepared.arguments.get(name)
        refusal = path_guard.guard_path(given, home, None) if isinstance(given, str) else None
        if isinstance(refusal, path_guard.PathRefusal):
            return failure_of(
                FailureKind.INVALID_ARGS,
                refusal.message(name),
                field=name,
                expected=f"a path relative to `{home}`, or an absolute one under it",
                extras={"reason": refusal.reason},
            )
    return None


def _of_its_tool(prepared: Prepared, session: SessionFacts) -> Failure | None:
    """What its tool itself says is wrong."""
    guard = prepared.tool.guard
    fault = None if guard is None else guard(prepared.arguments, session)
    if fault is None:
        return None
    return failure_of(FailureKind.INVALID_ARGS, fault.message, field=fault.field)
