"""A short menu of calls that read, offered before a shell is changed. A pure function of values."""

from holdfast.contract.managed.crowding import Pressure
from holdfast.contract.managed.shell_views import ShellPosture
from holdfast.contract.steps import Step


def read_first(
    posture: ShellPosture,
    pressure: Pressure | None,
    preferred: Step | None = None,
    *,
    in_describe: bool = False,
) -> tuple[Step, ...]:
    """The calls, the best first.

    ``preferred``: a first-class call that would answer the same; ``in_describe``: asked by
    shell_describe, which need not be called again.
    """
    steps: list[Step] = [] if preferred is None else [preferred]
    if not in_describe:
        steps.append(
            Step(tool="shell_describe", rationale="It shows how the shell stands, and what to do.")
        )
    steps.append(
        Step(
            tool="bash",
            args={"command": "pwd", "workdir": posture.cwd},
            rationale="It checks the working directory, and changes nothing.",
        )
    )
    if posture.last_command_preview is not None or posture.busy:
        steps.append(
            Step(
                tool="shell_read_last_output",
                rationale="What the last command printed may answer it already.",
            )
        )
    if is_crowded(pressure):
        steps.append(
            Step(
                tool="session_describe_context",
                rationale="Your context is crowded: see what of it is left out.",
            )
        )
    return tuple(steps)


def is_crowded(pressure: Pressure | None) -> bool:
    """Whether the context is short of room, or leaves out what was said."""
    return pressure is not None and pressure.level != "low"
