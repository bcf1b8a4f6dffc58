"""What `permissions_*` tools are answered: what a session may do as it stands. It runs nothing.

Read from the same tools that the catalog and the execution read. Whether rules ask is found out by
whoever judges calls; how the shell stands and how far the outcome came are told by others.
"""

from collections.abc import Awaitable, Callable
from typing import Literal, cast

import msgspec

from holdfast.contract.json_value import JsonObject, decode_json, encode_json
from holdfast.contract.managed.artifact_names import ARTIFACTS
from holdfast.contract.managed.crowding import Pressure
from holdfast.contract.managed.permissions import (
    CHANGES_SHELL,
    GATED,
    OVERRIDE,
    PendingConfirmation,
    PermissionCheck,
    PermissionPosture,
)
from holdfast.contract.managed.shell_views import ShellPosture, ShellView
from holdfast.contract.session_state import SessionState, is_bound
from holdfast.contract.steps import Step
from holdfast.contract.tool import Tool
from holdfast.preflight.repair import repair_arguments
from holdfast.preflight.schema import effective_schema
from holdfast.preflight.shape import shape_of
from holdfast.record.codec import moment_of
from holdfast.runtime.managed.evaluating import gate_step, next_outcome_step
from holdfast.runtime.managed.gate import Gate, Held
from holdfast.runtime.managed.ground import Ground
from holdfast.runtime.managed.instead import (
    NOTHING_INSTEAD,
    SHELL_COMMANDS,
    Instead,
    instead_of,
)
from holdfast.runtime.managed.judging import Judged
from holdfast.runtime.managed.read_first import is_crowded, read_first

_NOTES = "memory_promote_note"
"""A session that works for the one above it alone shares no notes."""
Foreseen = Literal["allow", "ask", "deny"]
Foresee = Callable[[str, JsonObject], Awaitable[Foreseen | None]]
"""What would become of a call, by the rules; None: it would not get that far."""


class PermissionDesk:
    """Of one session."""

    def __init__(
        self,
        ground: Ground,
        gate: Gate,
        shell: Callable[[], ShellView],
        foresee: Foresee,
    ) -> None:
        self._ground = ground
        self._gate = gate
        self._judging = gate.judging
        self._shell = shell
        self._foresee = foresee

    async def describe(self) -> PermissionPosture:
        """What it may do, what it waits for, and what leads on."""
        ground = self._ground
        state = (await ground.session()).state
        judged = await self._judging.judged()
        posture = await self._shell().posture()
        pending = pending_of(state)
        instead = NOTHING_INSTEAD
        if pending is not None:
            instead = instead_of(pending.tool_name, pending.input, posture.cwd, _root(state))
        pressure = self._pressure()
        tools = tuple(ground.tools())
        return PermissionPosture(
            artifact_paths=self._paths(),
            pending_tool_confirmation_request=pending,
            outcome_evaluation=judged.evaluation,
            next_outcome_step=next_outcome_step(judged.evaluation, judged.outcome),
            context_pressure=pressure,
            shell_mutation_posture=posture,
            read_only_alternative=instead.bash,
            next_shell_step=_next_shell_step(instead, posture),
            shell_read_first_alternatives=read_first(posture, pressure, instead.first_class),
            always_ask_tools=tuple(sorted(one.name for one in tools if always_asks(one))),
            outcome_gated_tools=tuple(sorted(one.name for one in tools if one.name in GATED)),
        )

    async def check(self, tool_name: str, tool_args: JsonObject | None, /) -> PermissionCheck:
        """What would become of one call."""
        tool = self._ground.tool(tool_name)
        if tool is None:
            return PermissionCheck(
                tool_name=tool_name, artifact_paths=self._paths(), exists=False, allowed=False
            )
        state = (await self._ground.session()).state
        given = _repaired(tool, tool_args or {})
        foreseen = await self._foresee(tool.name, given)
        pending = pending_of(state)
        checked = PermissionCheck(
            tool_name=tool.name,
            artifact_paths=self._paths(),
            exists=True,
            allowed=foreseen != "deny" and not (tool.name == _NOTES and is_bound(state)),
            permission_policy=tool.permission_policy,
            requires_confirmation=tool.always_asks(given) or foreseen == "ask",
            ownership=tool.ownership,
            effects=tool.effects,
            read_only=tool.read_only,
            destructive=tool.destructive,
            interrupt_behavior=tool.interrupt_behavior,
            context_pressure=self._pressure(),
            pending_tool_confirmation_request=pending
            if pending is not None and pending.tool_name == tool.name
            else None,
            next_step=_asked_about(tool),
        )
        if tool.name in GATED:
            above = await self._gate.held_above()
            return _gated(checked, await self._judging.judged(), given, above)
        if tool.name in CHANGES_SHELL:
            judged = await self._judging.judged()
            return self._shell_checked(checked, judged, await self._shell().posture(), given, state)
        return checked

    def _shell_checked(
        self,
        checked: PermissionCheck,
        judged: Judged,
        posture: ShellPosture,
        given: JsonObject,
        state: SessionState,
    ) -> PermissionCheck:
        """What is told beside of a tool that changes the shell."""
        instead = instead_of(checked.tool_name, given, posture.cwd, _root(state))
        step = _before_the_shell(checked.tool_name, instead, posture)
        return msgspec.structs.replace(
            checked,
            outcome_evaluation=judged.evaluation,
            next_outcome_step=next_outcome_step(judged.evaluation, judged.outcome),
            shell_mutation_posture=posture,
            read_only_alternative=instead.bash,
            shell_read_first_alternatives=read_first(
                posture, checked.context_pressure, instead.first_class
            ),
            next_step=step or checked.next_step,
        )

    def _pressure(self) -> Pressure | None:
        """How crowded the context is, where it is crowded."""
        crowding = self._ground.crowding()
        pressure = None if crowding is None else crowding.pressure
        return pressure if is_crowded(pressure) else None

    def _paths(self) -> tuple[str, ...]:
        folder = self._ground.artifacts
        shown = (*ARTIFACTS["permissions"], *ARTIFACTS["permission_posture"])
        return () if folder is None else tuple(str(folder / name) for name in shown)


def always_asks(tool: Tool) -> bool:
    """Whether a person confirms each call of a tool, whatever rules say."""
    return tool.permission_policy == "always_ask"


def pending_of(state: SessionState) -> PendingConfirmation | None:
    """The call that a person has to confirm, and has not answered yet."""
    asked = state.confirmation
    if asked is None or asked.answered_by is not None:
        return None
    return PendingConfirmation(
        id=asked.id,
        tool_name=asked.tool_name,
        ownership=asked.ownership,
        permission_policy=asked.permission_policy,
        input=asked.input,
        requested_at=moment_of(asked.requested_at).isoformat(),
    )


def _repaired(tool: Tool, given: JsonObject) -> JsonObject:
    """The arguments as the call itself would have them: names in camelCase are its own."""
    copied = cast("JsonObject", decode_json(encode_json(given)))
    schema = effective_schema(tool.input_schema).schema
    repair_arguments(shape_of(schema, keep_empty=tool.keep_empty, camel=tool.camel_case), copied)
    return copied


def _root(state: SessionState) -> str:
    return state.workspace or "/"


def _gated(
    checked: PermissionCheck, judged: Judged, given: JsonObject, above: Held | None
) -> PermissionCheck:
    """What is told beside of a tool that the outcome gates. ``above``: a session that this one
    works for and whose outcome is not reached."""
    said = given.get(OVERRIDE)
    found, outcome = judged.evaluation, judged.outcome
    needed = said if isinstance(said, bool) else outcome is not None
    held = None if said is False else above
    step = checked.next_step
    if (needed or outcome is not None) and not found.promotion_ready:
        step = gate_step(found)
    elif held is not None:
        step = held.step
    return msgspec.structs.replace(
        checked,
        requires_outcome_pass=needed or held is not None,
        outcome_evaluation=found,
        next_outcome_step=next_outcome_step(found, outcome),
        next_step=step,
    )


def _asked_about(tool: Tool) -> Step | None:
    if not always_asks(tool):
        return None
    return Step(
        tool="permissions_describe",
        rationale=f"A person confirms each call of {tool.name}: see what waits already.",
    )


def _before_the_shell(tool: str, instead: Instead, posture: ShellPosture) -> Step | None:
    """The first that there is: a first-class call, bash, to wait, to repair, to look."""
    waits = None if posture.busy_plan is None else posture.busy_plan.step
    repairs = posture.recovery_plan if tool == "shell_exec" else None
    looks = None
    if tool in SHELL_COMMANDS:
        looks = Step(
            tool="shell_describe",
            rationale="It shows where the command would run, and how the shell stands.",
        )
    return instead.first_class or instead.bash or waits or repairs or looks


def _next_shell_step(instead: Instead, posture: ShellPosture) -> Step | None:
    waits = None if posture.busy_plan is None else posture.busy_plan.step
    return instead.bash or waits or posture.recovery_plan
