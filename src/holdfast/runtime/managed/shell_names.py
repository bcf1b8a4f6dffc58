"""Which variables a session may keep for later commands, by their names. Pure.

What a variable says is not looked at here, nor whether it holds a secret.
"""

from holdfast.contract.errors import InvalidArguments, PolicyDenied
from holdfast.contract.late_pattern import late_pattern

_KEY = late_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_KEPT_ALONE = frozenset({"PATH", "LANG", "TMPDIR"})
_OWN = "HOLDFAST_"
# Set for every later command, such a variable would have programs that are not asked about load
# or run what somebody wrote, or go elsewhere than they are known to go: to other settings, another
# home or another host.
_LOADS_CODE = late_pattern(
    r"(LD|DYLD|GLIBC|MALLOC)_.*|GCONV_PATH|LOCPATH|NLSPATH|BASH_.*|ENV|PS[0-9]"
    r"|PROMPT_COMMAND|IFS|GIT_.*|PYTHON(PATH|STARTUP|HOME)|NODE_OPTIONS|PERL5(OPT|LIB|DB)"
    r"|PERLLIB|RUBY(OPT|LIB)"
)
_LEADS_ELSEWHERE = late_pattern(r"HOME|XDG_.*|(?i:(HTTP|HTTPS|FTP|ALL|NO)_PROXY)|CDPATH")
# Bash reads them as its own settings, or the shell that is kept is told its commands with them.
_THE_SHELLS = late_pattern(
    r"_.*|BASHOPTS|SHELLOPTS|POSIXLY_CORRECT|EUID|UID|PPID|SHELL|TMOUT|EXECIGNORE|GLOBIGNORE"
)
_PROTECTED = (_LOADS_CODE, _LEADS_ELSEWHERE, _THE_SHELLS)


def checked_key(tool: str, key: str) -> str:
    """The name, trimmed; InvalidArguments unless it is one, PolicyDenied for a protected one."""
    name = key.strip()
    if not name:
        raise InvalidArguments(f"{tool} requires a non-empty key", field="key")
    if _KEY.fullmatch(name) is None:
        raise InvalidArguments(
            f"{name!r} is no name of a variable", field="key", expected="[A-Za-z_][A-Za-z0-9_]*"
        )
    if not is_durable(name):
        raise PolicyDenied(
            f"Shell environment key {name} is protected: it is the runtime's to set, or decides"
            " how the shell works, which code programs load or where they go. Give it in front of"
            " one command of shell_run instead.",
            field="key",
        )
    return name


def is_durable(name: str) -> bool:
    """Whether a variable of this name may go on to later commands."""
    if name in _KEPT_ALONE or name.startswith(_OWN):
        return False
    if _KEY.fullmatch(name) is None:
        return False
    return all(pattern.fullmatch(name) is None for pattern in _PROTECTED)
