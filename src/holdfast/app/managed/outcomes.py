"""What stands behind the tools of `tools/managed/outcomes`, put together for one session."""

from holdfast.app.managed.basis import Basis
from holdfast.contract.managed.outcomes import Outcomes
from holdfast.contract.runtime import Ports
from holdfast.runtime.managed.outcome_desk import OutcomeDesk


def ports_of(basis: Basis) -> Ports:
    """By port, what each call is handed."""
    desk = OutcomeDesk(basis.ground, basis.judging)
    return {Outcomes: lambda _call: desk}
