"""A watchdog hook that is a program: the call as JSON on its standard input, an opinion out.

It answers ``{"verdict": "allow" | "ask" | "deny", "reason": "..."}`` within its time. Anything
else, a failure included, is raised, and the watchdog takes that for a refusal.
"""

from collections.abc import Mapping, Sequence

import msgspec
from anyio import fail_after, run_process

from holdfast.contract.json_value import encode_json
from holdfast.contract.rules import Action
from holdfast.contract.watchdog import Inspection, Opinion

DEFAULT_SECONDS = 10.0
_MOST_OUTPUT = 64 * 1024


class _Answer(msgspec.Struct, frozen=True):
    """What the program writes: a verdict it has to give, and why."""

    verdict: Action
    reason: str = ""


_decode = msgspec.json.Decoder(_Answer).decode


class HookProgram:
    """Asks a program about each call."""

    def __init__(
        self, argv: Sequence[str], environment: Mapping[str, str], seconds: float = DEFAULT_SECONDS
    ) -> None:
        self._argv = list(argv)
        self._environment = dict(environment)
        self._seconds = seconds
        self.__name__ = self._argv[0]

    async def __call__(self, inspection: Inspection, /) -> Opinion:
        """Run it once."""
        shown = {
            "hook": "tool.before",
            "tool": inspection.tool,
            "arguments": inspection.arguments,
            "manifest": inspection.manifest,
            "session_id": inspection.session_id,
            "uses": inspection.uses,
        }
        try:
            with fail_after(self._seconds):
                done = await run_process(
                    self._argv, input=encode_json(shown), env=self._environment, check=False
                )
        except TimeoutError:
            given = f"{self._seconds:g} s; watchdog.seconds gives it more"
            raise TimeoutError(f"it took longer than {given}") from None
        if done.returncode != 0:
            said = done.stderr[-200:].decode("utf-8", "replace").strip()
            raise RuntimeError(f"it ended with status {done.returncode}: {said}")
        if len(done.stdout) > _MOST_OUTPUT:
            raise ValueError("its answer is too long")
        try:
            answer = _decode(done.stdout)
        except ValueError as problem:
            raise ValueError(f"its answer is no opinion: {problem}") from None
        return Opinion(answer.verdict, answer.reason)
