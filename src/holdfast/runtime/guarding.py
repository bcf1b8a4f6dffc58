"""The last step of preflight for tools with guarded paths: a path that could not be meant.

It comes before the policy: what a model wrote wrongly is told as that, and not as a refusal.
"""

from holdfast.contract.builders import failure_of
from holdfast.contract.call import Prepared, Rejected
from holdfast.contract.failure import FailureKind
from holdfast.policy.path_guard import PathRefusal, guard_path


def guarded(prepared: Prepared, home: str | None) -> Prepared | Rejected:
    """The call as it is, or why one of its paths is not taken. Without a home policy decides."""
    if home is None:
        return prepared
    arguments = prepared.arguments
    for name in sorted(prepared.tool.guarded):
        given = arguments.get(name)
        refusal = guard_path(given, home, None) if isinstance(given, str) else None
        if isinstance(refusal, PathRefusal):
            failure = failure_of(
                FailureKind.INVALID_ARGS,
                refusal.message(name),
                field=name,
                expected=f"a path relative to `{home}`, or an absolute one under it",
                extras={"reason": refusal.reason},
            )
            return Rejected(
                call=prepared.call, failure=failure, sent=arguments, repairs=prepared.repairs
            )
    return prepared
