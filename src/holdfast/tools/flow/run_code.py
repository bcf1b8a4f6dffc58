"""run_code: a piece of code in the session's sandbox."""

from collections.abc import Mapping

from holdfast.contract.backend import BackendToolCodeRun
from holdfast.contract.flow import FlowSession, FlowToolCall


class RunCode(FlowToolCall):
    """Runs code and answers with what it printed."""

    @property
    def name(self) -> str:
        """The name models call."""
        return "run_code"

    @property
    def description(self) -> str:
        """What models read."""
        return "Run a piece of code, e.g. code `print(6 * 7)`. Answers with its output and error."

    @property
    def parameters(self) -> Mapping[str, object]:
        """The code, its language and a time limit."""
        return {
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "The code, e.g. `print(6 * 7)`"},
                "language": {
                    "type": "string",
                    "description": "Its language, e.g. `python`",
                    "default": "python",
                },
                "timeout": {
                    "type": ["number", "null"],
                    "description": "Seconds it may run, e.g. 10",
                    "default": None,
                },
            },
            "required": ["code"],
            "additionalProperties": False,
        }

    def __call__(self, session: FlowSession, arguments: Mapping[str, object]) -> object:
        """Dispatch the code."""
        timeout = arguments.get("timeout")
        payload = BackendToolCodeRun(
            code=str(arguments["code"]),
            language=str(arguments.get("language", "python")),
            timeout=float(timeout) if isinstance(timeout, (int, float)) else None,
        )
        return session.require_sandbox().dispatch(payload)

    def resource_key(self, arguments: Mapping[str, object]) -> tuple[str, ...]:  # noqa: ARG002 - the interface's
        """Code may touch everything."""
        return ("code",)
