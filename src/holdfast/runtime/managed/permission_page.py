"""What a session may do, as a short page. Pure: a value in, text out."""

from collections.abc import Iterator

from holdfast.contract.json_value import encode_json
from holdfast.contract.managed.permissions import PermissionPosture
from holdfast.contract.steps import Step
from holdfast.runtime.managed.outcome_pages import flat, step_line


def permission_page(found: PermissionPosture) -> str:
    """What waits, what asks, what the outcome allows, how crowded the context is, how the shell
    stands."""
    return "\n".join(["# Permission posture", "", *_lines(found)]) + "\n"


def _lines(found: PermissionPosture) -> Iterator[str]:
    pending = found.pending_tool_confirmation_request
    if pending is None:
        yield "- Waits for a person: nothing"
    else:
        given = encode_json(pending.input).decode()
        yield f"- Waits for a person: {pending.tool_name} {flat(given)} ({pending.id})"
    yield f"- Ask before each call: {_names(found.always_ask_tools)}"
    yield f"- Wait for the outcome: {_names(found.outcome_gated_tools)}"
    verdict = found.outcome_evaluation
    yield f"- Outcome: {verdict.status}: {flat(verdict.summary)}"
    yield from _step("Next for the outcome", found.next_outcome_step)
    pressure = found.context_pressure
    if pressure is not None:
        yield f"- Context: {pressure.level} ({', '.join(pressure.reasons)})"
    shell = found.shell_mutation_posture
    yield f"- Shell: {shell.status}{', busy' if shell.busy else ''}, in {shell.cwd}"
    yield from _step("Reads the same", found.read_only_alternative)
    yield from _step("Next for the shell", found.next_shell_step)
    for step in found.shell_read_first_alternatives:
        yield from _step("Read first", step)


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"


def _step(what: str, step: Step | None) -> Iterator[str]:
    if step is not None:
        yield f"- {what}: {step_line(step)}"
