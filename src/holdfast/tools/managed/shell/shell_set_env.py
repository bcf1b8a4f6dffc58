"""`shell_set_env`: a variable that later commands begin with."""

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.managed.shell import ShellKeeping, VariableChanged
from holdfast.tools.managed.shell.declared import keeping


@builtin(**keeping())
async def shell_set_env(key: str, value: str, shell: ShellKeeping) -> VariableChanged:
    """Set an environment variable of the session for later bash, shell_run and shell_exec."""
    if not value.strip():
        raise InvalidArguments("shell_set_env requires a non-empty value", field="value")
    return await shell.set_variable(key, value)
