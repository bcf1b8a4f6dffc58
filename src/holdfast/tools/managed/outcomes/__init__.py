"""What a session is to achieve, how far it came, and whether that may be shared."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.managed.outcomes.outcome_define import outcome_define
from holdfast.tools.managed.outcomes.outcome_evaluate import outcome_evaluate
from holdfast.tools.managed.outcomes.outcome_grade import outcome_grade
from holdfast.tools.managed.outcomes.outcome_history import outcome_history
from holdfast.tools.managed.outcomes.outcome_read import outcome_read

OUTCOMES: tuple[Builtin, ...] = (
    *(outcome_read, outcome_grade, outcome_evaluate),
    *(outcome_history, outcome_define),
)
