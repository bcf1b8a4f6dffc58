"""What stands behind the tools of `tools/managed/retrieval`, put together for one session."""

from holdfast.app.managed.basis import Basis, skill_list
from holdfast.contract.managed.retrieval import Retrieval
from holdfast.contract.runtime import Ports
from holdfast.runtime.managed.recall import Recall
from holdfast.runtime.managed.retrieval.finding import Finding


def finding_of(basis: Basis) -> Finding:
    """Who looks through the agent's sessions."""
    return Finding(basis.ground, basis.shell, basis.vectors)


def recall_of(basis: Basis) -> Recall:
    """Who looks for what a run may want to remember when it begins."""
    return Recall(basis.ground, finding_of(basis), lambda: skill_list(basis.parts))


def ports_of(basis: Basis) -> Ports:
    """By port, what each call is handed."""
    finding = finding_of(basis)
    return {Retrieval: lambda _call: finding}
