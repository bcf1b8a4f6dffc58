"""`sandbox_execute`: one action of the session's hand."""

from holdfast.contract.after_edit import AfterEdit
from holdfast.contract.builtin import builtin
from holdfast.contract.file_bounds import FileBounds
from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed.sandbox import SandboxDesk, SandboxResult
from holdfast.contract.managed.shell import ShellKeeping, ShellReading
from holdfast.contract.runtime import Runtime
from holdfast.contract.search import FileSearch
from holdfast.contract.told import Told
from holdfast.contract.tool import Limits, OutputBound
from holdfast.tools.commands import ANY_COMMAND, HERE
from holdfast.tools.managed.sandbox.actions import action_of, asks_for, uses_of
from holdfast.tools.managed.sandbox.hand import MountedHand, Reached
from holdfast.tools.managed.shell.declared import OUTPUT_BYTES


@builtin(
    requires={"shell": ANY_COMMAND, "fs": HERE},
    uses_of=uses_of,
    asks_for=asks_for,
    person_decides=True,
    effects=("resource_read", "resource_write", "session_write", "sandbox_execute"),
    read_only=False,
    destructive=True,
    acp_kind="execute",
    interrupt_behavior="cancel",
    limits=Limits(wall_seconds=None, output=OutputBound(max_bytes=OUTPUT_BYTES)),
)
async def sandbox_execute(  # noqa: PLR0913 - the arguments, and the ports of all actions
    rt: Runtime,
    name: str,
    bounds: FileBounds,
    after_edit: AfterEdit,
    search: FileSearch,
    reading: ShellReading,
    keeping: ShellKeeping,
    desk: SandboxDesk,
    input: JsonObject | None = None,
) -> Told[SandboxResult]:
    """Do one action of the hand: call sandbox_describe first for names and inputs.

    Prefer read, write, edit, glob, grep, bash. run_shell and exec_persistent_shell are confirmed.
    Example: {"name": "list_dir", "input": {"path": "src"}}
    """
    given: JsonObject = input or {}
    action, _, _ = action_of({"name": name, "input": given})
    hand = MountedHand(Reached(rt, bounds, after_edit, search, reading, keeping, desk))
    hand.provision(desk.resources)
    result = await hand.execute(action, given)
    return Told(result=result, warnings=hand.warnings)
