"""`outcome_define`: say what a session is to achieve."""

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.events import WantedOutcome
from holdfast.contract.managed.outcomes import DefinedOutcome, Outcomes

LONGEST_TITLE, LONGEST_DETAIL = 300, 4_000
MOST_CRITERIA, LONGEST_CRITERION = 20, 500


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
            ['The check prints "3 steps"']. Without any, it never counts as reached.
    """
    named = title.strip()
    if not named:
        raise InvalidArguments("outcome_define requires a non-empty title", field="title")
    criteria = dict.fromkeys(one.strip() for one in success_criteria)
    _check_size(named, detail or "", tuple(criteria))
    wanted = WantedOutcome(
        title=named,
        detail=(detail or "").strip() or None,
        success_criteria=tuple(filter(None, criteria)),
    )
    return await outcomes.define(wanted, (session_id or "").strip() or None)


def _check_size(title: str, detail: str, criteria: tuple[str, ...]) -> None:
    """An outcome is looked for in all that happens: it has to be short."""
    for field, text, most in (("title", title, LONGEST_TITLE), ("detail", detail, LONGEST_DETAIL)):
        if len(text) > most:
            raise InvalidArguments(f"{field} has at most {most} characters", field=field)
    if len(criteria) > MOST_CRITERIA or any(len(one) > LONGEST_CRITERION for one in criteria):
        raise InvalidArguments(
            f"an outcome has at most {MOST_CRITERIA} criteria of {LONGEST_CRITERION} characters",
            field="success_criteria",
            expected="a few short sentences that results will show",
        )
