"""What a shell tool says beside an output that is easily misread.

It looks at the text of the command, the exit code and what was printed, and takes nothing apart.
The result stays what it is: these are remarks for a model, at most one hint for a failure.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

WarningKind = Literal[
    "empty_output", "sigpipe", "package_install", "inline_script", "here_document", "quote"
]

SIGPIPE_EXIT = 141
_NO_ERRORS = "2>/dev/null"

_INSTALL = re.compile(
    r"(?:^|[;&|(]\s*|sudo\s+)(?:pip3?|python3?\s+-m\s+pip|npm|pnpm|yarn|apt|apt-get|apk|brew|gem)"
    r"\s+(?:install|add|i)\b"
)
_INLINE = re.compile(r"\b(?:python3?|node|ruby|perl|php|bash|sh|zsh)\s+(?:-\w+\s+)*-\w*[cer]\b")
_PARSE_ERROR = re.compile(
    r"SyntaxError|IndentationError|TabError|syntax error|Unexpected (?:token|identifier|end)"
    r"|unterminated string|[Pp]arse error"
)
_HERE_DOCUMENT = re.compile(r"here-document .*delimited by end-of-file")
_QUOTE = re.compile(r"unexpected EOF while looking for matching [`']([\"'`])")
_QUOTES = {'"': 'double quote (")', "'": "single quote (')", "`": "backtick (`)"}


class ShellWarning(NamedTuple):
    """One remark."""

    kind: WarningKind
    text: str


def shell_warnings(command: str, exit_code: int, stdout: str, stderr: str) -> list[ShellWarning]:
    """The remarks on a command that ended, in the order in which they are shown."""
    found = list(_on_output(command, exit_code, stdout, stderr))
    if exit_code not in (0, SIGPIPE_EXIT):
        hint = _hint(command, stderr)
        found += [] if hint is None else [hint]
    return found


def _on_output(command: str, exit_code: int, stdout: str, stderr: str) -> Iterator[ShellWarning]:
    if exit_code == 0 and not stdout and not stderr:
        hiding = [sign for sign in ("|", _NO_ERRORS) if sign in command]
        if hiding:
            yield ShellWarning(
                "empty_output",
                f"The command exited 0 without output; {' and '.join(hiding)} in it may have"
                " hidden an error or filtered everything out. pipefail is on, so no part of a"
                " pipeline failed.",
            )
    if exit_code == SIGPIPE_EXIT:
        yield ShellWarning(
            "sigpipe",
            "A part of the pipeline was ended by SIGPIPE (141) because a later one stopped"
            " reading; stdout is trustworthy.",
        )


def _hint(command: str, stderr: str) -> ShellWarning | None:
    """Of all that may be the reason of a failure, the first that fits."""
    if _INSTALL.search(command):
        return ShellWarning(
            "package_install",
            "Installing packages needs the network and a place to write to, which a sandboxed"
            " command may not have; use the tool for that, or ask for the hosts it needs.",
        )
    if _PARSE_ERROR.search(stderr) and _INLINE.search(command):
        return ShellWarning(
            "inline_script",
            "The inline script could not be parsed; quoting is the usual reason. Write it to a"
            " file and run that.",
        )
    if _HERE_DOCUMENT.search(stderr):
        return ShellWarning(
            "here_document",
            "A here-document has no end: put its delimiter alone on a line, without blanks.",
        )
    quote = _QUOTE.search(stderr)
    if quote is not None:
        return ShellWarning("quote", f"A {_QUOTES[quote[1]]} is not closed.")
    return None
