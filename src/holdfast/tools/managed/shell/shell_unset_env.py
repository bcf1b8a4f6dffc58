"""`shell_unset_env`: a variable that later commands begin without."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.shell import ShellKeeping, VariableChanged
from holdfast.tools.managed.shell.declared import keeping


@builtin(**keeping())
async def shell_unset_env(key: str, shell: ShellKeeping) -> VariableChanged:
    """Remove an environment variable that the session has set."""
    return await shell.unset_variable(key)
