"""`shell_set_cwd`: where later commands run."""

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.managed.shell import Moved, ShellKeeping
from holdfast.contract.runtime import Runtime
from holdfast.tools.commands import check_directory
from holdfast.tools.managed.shell.declared import keeping


@builtin(**keeping())
async def shell_set_cwd(rt: Runtime, path: str, shell: ShellKeeping) -> Moved:
    """Set the session's working directory for later bash, shell_run and shell_exec.

    Args:
        path: A directory inside a mount; relative to the workspace.
    """
    wanted = path.strip()
    if not wanted:
        raise InvalidArguments("shell_set_cwd requires a non-empty path", field="path")
    await check_directory(rt, wanted, "path")
    return await shell.move(wanted)
