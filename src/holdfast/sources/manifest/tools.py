"""Entries of a manifest as tools: what a model is told, what each needs, and the program that runs.

The program gets the call's arguments on its standard input, as they were sent where preflight
changed nothing and no key is there twice. Which sandbox it runs in, and what is written down of it,
is not known here.
"""

from collections.abc import Coroutine, Mapping
from itertools import count

import msgspec
from anyio import CancelScope, create_task_group, sleep

from holdfast.contract.errors import ToolError
from holdfast.contract.json_value import JsonObject
from holdfast.contract.programs import DeclaredProgram, Programs
from holdfast.contract.requirements import RequirementSet
from holdfast.contract.runtime import Progress, Runtime
from holdfast.contract.shell import CommandLimits, CommandReport
from holdfast.contract.tool import Alone, Body, Limits, OutputBound, Tool
from holdfast.sources.manifest.answers import Allowed, answer_of
from holdfast.sources.manifest.entries import Manifest, ManifestEntry
from holdfast.sources.manifest.program_path import TOOLS_FOLDER
from holdfast.sources.manifest.sent import NOTHING, as_sent

DEFAULT_SECONDS = 30.0
GRACE_SECONDS = 1.0
"""Between asking a program to end and ending it."""
SIGN_SECONDS = 1
"""Between two signs of life of a program that runs."""
_AROUND_SECONDS = 15.0
"""For opening the sandbox before the program's own time, and ending the program after it."""

_STDIN = "stdin"
_SHOWN = OutputBound(fields=("text",))


class ManifestDefaults(msgspec.Struct, frozen=True, kw_only=True):
    """What counts for entries that say nothing of it."""

    requires: RequirementSet
    """What a program may reach beside itself."""
    tool_seconds: float | None = None
    """How long a call may take, by the operator's word on tools; None: the general one counts."""
    seconds: float = DEFAULT_SECONDS
    """How long anything may take, by the operator's general word."""


def manifest_tools(manifest: Manifest, defaults: ManifestDefaults) -> tuple[Tool, ...]:
    """A tool for every entry, in order."""
    return tuple(_tool(entry, manifest.folder, defaults) for entry in manifest.entries)


def seconds_of(entry: ManifestEntry, defaults: ManifestDefaults) -> float:
    """How long a call of it may take: its own word, else the operator's on tools, else on all."""
    if entry.timeout_seconds is not None:
        return float(entry.timeout_seconds)
    return defaults.seconds if defaults.tool_seconds is None else defaults.tool_seconds


def _tool(entry: ManifestEntry, folder: str, defaults: ManifestDefaults) -> Tool:
    seconds = seconds_of(entry, defaults)
    requires = _required(entry, defaults.requires)
    return Tool(
        name=entry.name,
        description=entry.description,
        requires=requires,
        body=_body(entry, Allowed(seconds, folder, requires)),
        input_schema=entry.schema or {},
        ownership="managed",
        alone=Alone(
            started_from=_started_from(entry.command[0], folder), owner=folder, seconds=seconds
        ),
        read_only=_only_reads(requires),
        interrupt_behavior="cancel",
        acp_kind="execute",
        effects=("sandbox_execute",),
        limits=Limits(wall_seconds=seconds + _AROUND_SECONDS, output=_SHOWN),
    )


def _required(entry: ManifestEntry, usual: RequirementSet) -> RequirementSet:
    """What an entry says; one that says nothing of reading reads what all may.

    Without that it would begin in an empty folder of its own, and what it writes there is lost.
    """
    own = entry.requires
    if own is None:
        return usual
    if entry.names_reads:
        return own
    reading = msgspec.structs.replace(own.fs, read=usual.fs.read)
    return msgspec.structs.replace(own, fs=reading)


def _only_reads(requires: RequirementSet) -> bool:
    """Whether its sandbox lets it read files and do nothing else, here or at any host."""
    return not (requires.fs.write or requires.net.hosts or requires.shell or requires.capabilities)


def _started_from(program: str, folder: str) -> tuple[str, ...]:
    """Its file; and for one in the folder of tools all of that: it may need what lies beside it."""
    own = f"{folder.rstrip('/')}/{TOOLS_FOLDER}"
    return (own, program) if program.startswith(f"{own}/") else (program,)


def _body(entry: ManifestEntry, allowed: Allowed) -> Body:
    program = DeclaredProgram(argv=entry.command, passed=entry.passed)
    limits = CommandLimits(wall=allowed.seconds, grace=GRACE_SECONDS)

    async def call(values: Mapping[str, object], runtime: Runtime) -> object:
        told = values[_STDIN]
        stdin = told if isinstance(told, bytes) else NOTHING
        work = runtime.port(Programs).run(program, stdin=stdin, limits=limits)
        report = await _with_signs_of_life(work, runtime)
        return answer_of(report, entry, allowed)

    return Body(style="async", invoke=call, decode=_as_object, read=_as_sent, verbatim=True)


async def _with_signs_of_life(
    work: Coroutine[object, object, CommandReport], runtime: Runtime
) -> CommandReport:
    """Wait for a program that has no way to say how far it is, and say that it runs."""
    ended: list[CommandReport | ToolError] = []
    telling = CancelScope()
    async with create_task_group() as signs:
        signs.start_soon(_tell, runtime, telling)
        try:
            ended.append(await work)
        except ToolError as problem:
            ended.append(problem)  # out of the group it comes as itself
        telling.cancel()
    (end,) = ended
    if isinstance(end, ToolError):
        raise end
    return end


async def _tell(runtime: Runtime, telling: CancelScope) -> None:
    with telling:
        for seconds in count(SIGN_SECONDS, SIGN_SECONDS):
            await sleep(SIGN_SECONDS)
            runtime.progress(Progress(message=f"{runtime.tool} is running for {seconds} s"))


def _as_object(arguments: JsonObject) -> dict[str, object]:
    return {_STDIN: msgspec.json.encode(arguments)}


def _as_sent(text: str | bytes) -> dict[str, object]:
    return {_STDIN: as_sent(text)}
