"""run_shell_command: one line of shell in the session's sandbox."""

from collections.abc import Mapping

from holdfast.contract.backend import BackendToolCommandRun
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.flow import FlowSession, FlowToolCall

MAX_COMMAND_CHARACTERS = 2_048


class CommandRefused(InvalidArguments, ValueError):
    """The argument is at fault: a ValueError to a flow loop, invalid_args in an envelope."""


def guarded(command: str) -> str:
    """Refuse what this tool never runs, before any sandbox exists."""
    if "\n" in command or "\r" in command:
        raise CommandRefused("multiline commands are rejected", field="cmd")
    if len(command) > MAX_COMMAND_CHARACTERS:
        raise CommandRefused("command too long", field="cmd")
    return command


class RunShellCommand(FlowToolCall):
    """Runs one shell command in the active sandbox workspace."""

    @property
    def name(self) -> str:
        """The name models call."""
        return "run_shell_command"

    @property
    def description(self) -> str:
        """What models read."""
        return (
            "Run one shell command in the workspace, on one line, e.g. `ls -l src`."
            " Answers with exit_code, stdout, stderr and elapsed_ms."
        )

    @property
    def parameters(self) -> Mapping[str, object]:
        """One command."""
        return {
            "type": "object",
            "properties": {"cmd": {"type": "string", "description": "The command, e.g. `ls -l`"}},
            "required": ["cmd"],
            "additionalProperties": False,
        }

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        """Dispatch the command."""
        command = guarded(str(arguments["cmd"]))
        return session.require_sandbox().dispatch(BackendToolCommandRun(cmd=command))

    def resource_key(self, arguments: Mapping[str, object]) -> tuple[str, ...]:  # noqa: ARG002 - the interface's
        """Every command may touch everything."""
        return ("exec",)
