"""The read-first menu: what to look at before a shell is asked to change something. Pure."""

from holdfast.contract.managed.crowding import Pressure
from holdfast.contract.managed.shell_views import ShellPosture
from holdfast.contract.steps import Step


def read_first(
    posture: ShellPosture,
    pressure: Pressure | None,
    preferred: Step | None,
    *,
    in_describe: bool = False,
) -> tuple[Step, ...]:
    """In the order in which they are worth trying. ``in_describe``: shell_describe itself asks."""
    menu = [] if preferred is None else [preferred]
    if not in_describe:
        menu.append(Step(tool="shell_describe", rationale="Shows how the shell stands."))
    menu.append(
        Step(
            tool="bash",
            args={"command": "pwd", "workdir": posture.cwd},
            rationale="Confirms where commands run, and changes nothing.",
        )
    )
    if posture.last_command_preview is not None or posture.busy:
        menu.append(Step(tool="shell_read_last_output", rationale="Rereads the last command."))
    if pressure is not None and pressure.level != "low":
        why = "The context is crowded: see what of it is left out."
        menu.append(Step(tool="session_describe_context", rationale=why))
    return tuple(menu)
