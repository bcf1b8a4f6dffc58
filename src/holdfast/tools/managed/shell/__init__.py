"""The shell of a session: where it stands, what it ran, and what it runs now."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.managed.shell.shell_close import shell_close
from holdfast.tools.managed.shell.shell_describe import shell_describe
from holdfast.tools.managed.shell.shell_exec import shell_exec
from holdfast.tools.managed.shell.shell_history import shell_history
from holdfast.tools.managed.shell.shell_open import shell_open
from holdfast.tools.managed.shell.shell_read_command import shell_read_command
from holdfast.tools.managed.shell.shell_read_last_output import shell_read_last_output
from holdfast.tools.managed.shell.shell_restart import shell_restart
from holdfast.tools.managed.shell.shell_run import shell_run
from holdfast.tools.managed.shell.shell_set_cwd import shell_set_cwd
from holdfast.tools.managed.shell.shell_set_env import shell_set_env
from holdfast.tools.managed.shell.shell_unset_env import shell_unset_env
from holdfast.tools.managed.shell.shell_wait import shell_wait

SHELL: tuple[Builtin, ...] = (
    *(shell_describe, shell_history, shell_read_last_output, shell_read_command, shell_wait),
    *(shell_set_cwd, shell_set_env, shell_unset_env, shell_open, shell_restart),
    *(shell_run, shell_exec, shell_close),
)
