"""What may be remembered beside exactly what was in question, by somebody who was shown it.

Of commands those that begin the same, `git log *` beside `git log -3`: a list of those that may,
not of those that may not. What is not known here is remembered exactly or not at all: an
interpreter, a shell, a wrapper or a build tool does whatever its arguments say. Of files that a
tool writes all of the workspace: whoever watches an agent edit may want to agree once.
"""

from collections.abc import Sequence

from holdfast.contract.rules import Use
from holdfast.policy import plain_command

READERS = frozenset({
    "basename", "cat", "cmp", "column", "comm", "cut", "df", "diff", "dirname", "du", "echo",
    "egrep", "fgrep", "fold", "grep", "head", "id", "jq", "ls", "md5sum", "nl", "od", "paste",
    "pwd", "readlink", "realpath", "rg", "sha1sum", "sha256sum", "sha512sum", "stat", "tail",
    "tr", "uname", "wc", "which", "whoami",
})  # fmt: skip
"""Programs without an option that writes a file or runs another program, or where that one option
is a doubt of the reader of command text."""

SUBCOMMANDS: dict[str, frozenset[str]] = {
    "git": frozenset({
        "add", "commit", "describe", "diff", "grep", "log", "ls-files", "ls-tree",
        "rev-parse", "show", "status",
    }),
}  # fmt: skip
"""Subcommands that read, or change what git itself can bring back; nothing that publishes, and
nothing that takes a configuration by an option."""


ANY_FILE = "?*/**"
"""Every path of the workspace, as they are compared: from there. One elsewhere begins with "/"."""


def wider_patterns(uses: Sequence[Use]) -> tuple[str, ...]:
    """A pattern for each command in question, or one for files that are written; none at all when
    one of them must stay exact."""
    if uses and all(map(_is_file, uses)):
        return (ANY_FILE,) if any(use.capability == "fs.write" for use in uses) else ()
    found: list[str] = []
    for use in uses:
        if use.doubt is not None or use.declared:
            return ()
        if use.kind == "command":
            beginning = _beginning(use.target)
            if beginning is None:
                return ()
            found.append(f"{beginning} *")
    return tuple(dict.fromkeys(found))


def _is_file(use: Use) -> bool:
    """Whether a tool names a file of the workspace; what a command is sent to stays exact."""
    named = use.kind == "path" and use.within is None and not use.declared and use.doubt is None
    return named and not any(one.startswith("/") for one in (use.target, *use.spellings))


def _beginning(command: str) -> str | None:
    words = plain_command.plain_words(command)
    if words is None:
        return None
    known = SUBCOMMANDS.get(words[0])
    if words[0] in READERS:
        beginning = words[0]
    elif known is not None and len(words) > 1 and words[1] in known:
        beginning = f"{words[0]} {words[1]}"
    else:
        return None
    # As it is written: quotes or a second blank would not be found again.
    return beginning if f"{command} ".startswith(f"{beginning} ") else None
