"""Declared programs for one call: what a source brings along, run as it was declared.

Nobody asks whether such a program may run: who named its source did. It gets nothing of the
parent's environment but PATH, HOME and what it was allowed, and what it reaches is its tool's.
"""

from collections.abc import Mapping

from holdfast.contract.errors import Unavailable
from holdfast.contract.programs import DeclaredProgram, Listener
from holdfast.contract.shell import NO_LIMITS, CommandLimits, CommandReport
from holdfast.execution.network.proxy_environment import with_proxy
from holdfast.execution.processes.call_processes import Asked, CallProcesses
from holdfast.execution.processes.piped import Piped
from holdfast.execution.processes.sandbox import Sandbox
from holdfast.execution.program_environment import program_environment


class CallPrograms:
    """The port `Programs` of one call."""

    def __init__(self, call: CallProcesses, parent: Mapping[str, str]) -> None:
        self._call = call
        self._parent = parent

    async def run(
        self, program: DeclaredProgram, /, *, stdin: bytes, limits: CommandLimits = NO_LIMITS
    ) -> CommandReport:
        """Run one to its end. What outlives it is ended with it."""
        return await self._call.run(self._asked(program)._replace(stdin=stdin, limits=limits))

    async def converse(self, program: DeclaredProgram, listener: Listener, /) -> Piped:
        """Start one that is spoken with; Unavailable says why it cannot be."""
        try:
            return await self._call.converse(self._asked(program), listener)
        except OSError as problem:
            why = problem.strerror or str(problem)
            raise Unavailable(
                f"The program {program.argv[0]!r} could not be started: {why}. Check that it is"
                " there, that it can be executed, and that the interpreter in its first line is."
            ) from None

    def _asked(self, program: DeclaredProgram) -> Asked:
        found = program_environment(self._parent, program.passed)
        own = found.variables | {**program.variables}

        def environment(sandbox: Sandbox) -> Mapping[str, str]:
            # What is passed on leads to the parent's proxy, and the door is the only way out.
            return with_proxy(own, sandbox.door(), program.variables)

        return Asked(
            command=program.argv,
            environment=environment,
            env_keys=tuple(dict.fromkeys((*found.passed, *program.variables))),
            cwd=program.cwd,
            leaves_jobs=False,
            declared=True,
        )
