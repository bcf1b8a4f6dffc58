"""The suite of a loop's state: answers are recorded, and the advice and held answers looked at."""

from collections.abc import Iterator

from holdfast.agent.held_answers import nobody_else
from holdfast.agent.task_state import TaskState
from holdfast.contract.json_value import JsonObject
from holdfast.testing.conformance.case import Case, differs, part, text, texts

_KNOWN = frozenset(
    {"record", "begin_message", "bias", "bias_mentions", "bias_lacks", "last_listing_path"}
    | {"held", "expect"}
)


def check(case: Case) -> Iterator[str]:
    """Take the steps of a case in their order, in a place where nobody else changes anything."""
    steps = case.get("steps")
    if not isinstance(steps, list):
        raise ValueError("the case has no list 'steps'")
    state: TaskState[str] = TaskState(witness=nobody_else)
    for number, step in enumerate(steps, 1):
        if not isinstance(step, dict):
            raise ValueError("a step is not an object")
        for said in _taken(state, step):
            yield f"step {number}: {said}"


def _taken(state: TaskState[str], step: JsonObject) -> Iterator[str]:
    if not step or not step.keys() <= _KNOWN:
        yield f"this version does not know all of {sorted(step)}"
    if step.get("begin_message") is True:
        state.begin_message()
    if "record" in step:
        call = part(step, "record")
        name, arguments = text(call, "name"), part(call, "args")
        state.held(name, arguments)  # as every loop does before a call
        state.record(name, arguments, text(call, "result"))
    if "held" in step:
        call = part(step, "held")
        found = state.held(text(call, "name"), part(call, "args"))
        yield from differs("held", found, step.get("expect"))
    if "last_listing_path" in step:
        yield from differs("listing", state.last_listing_path, step["last_listing_path"])
    yield from _advised(state.notice(), step)


def _advised(notice: str | None, step: JsonObject) -> Iterator[str]:
    if "bias" in step:
        yield from differs("bias", notice, step["bias"])
    said = (notice or "").lower()
    if "bias_mentions" in step and notice is None:
        yield "bias: expected some, got none"
    for word in texts(step, "bias_mentions"):
        if word.lower() not in said:
            yield f"bias: expected {word!r} in {notice!r}"
    for word in texts(step, "bias_lacks"):
        if word.lower() in said:
            yield f"bias: did not expect {word!r} in {notice!r}"
