"""`outcome_define`: say what a session is to achieve."""

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.events import WantedOutcome
from holdfast.contract.managed.outcomes import DefinedOutcome, Outcomes


@builtin(
    read_only=False,
    effects=("session_write",),
    acp_kind="think",
    interrupt_behavior="block",
)
async def outcome_define(
    title: str,
    outcomes: Outcomes,
    detail: str | None = None,
    success_criteria: tuple[str, ...] = (),
    session_id: str | None = None,
) -> DefinedOutcome:
    """Say what this session is to achieve, in place of any outcome before.

    Args:
        success_criteria: How to tell that it is done, in words that results will show, e.g.
            ["pytest tests/till.py passes"]. Without any, it never counts as reached.
    """
    named = title.strip()
    if not named:
        raise InvalidArguments("outcome_define requires a non-empty title", field="title")
    criteria = dict.fromkeys(one.strip() for one in success_criteria)
    wanted = WantedOutcome(
        title=named,
        detail=(detail or "").strip() or None,
        success_criteria=tuple(filter(None, criteria)),
    )
    return await outcomes.define(wanted, (session_id or "").strip() or None)
