"""What the managed profile's `bash` may run: one of ten programs, without a shell.

It judges the text alone. Whether an operand lies in the mount of the working directory is asked of
the operands it gives back, by whoever knows the mounts.
"""

from collections.abc import Sequence

import msgspec

from holdfast.policy import plain_command

PROGRAMS = ("pwd", "env", "ls", "cat", "head", "tail", "wc", "basename", "dirname", "realpath")

_ALONE = frozenset({"pwd", "env"})
_WITH_VALUE = {"head": "nc", "tail": "nc", "basename": "s"}
# tail never ends with these; those of ls take a value on one system and none on another, so what
# follows them could be a value or a path.
_REFUSED_LETTERS = {"tail": "fFs", "ls": "DITw"}
_COMMON = {"help", "version"}
# Long options without a value, by their whole names: an abbreviation or a name that is not here
# may stand for one that names a file, as wc's --files0-from does.
_LONG: dict[str, frozenset[str]] = {
    "ls": frozenset(
        {
            *("all", "almost-all", "author", "classify", "color", "context", "dereference"),
            *("directory", "escape", "file-type", "full-time", "group-directories-first"),
            *("human-readable", "hyperlink", "ignore-backups", "inode", "literal", "no-group"),
            *("numeric-uid-gid", "quote-name", "recursive", "reverse", "si", "size", "zero"),
            *_COMMON,
        }
    ),
    "cat": frozenset(
        {
            *("number", "number-nonblank", "show-all", "show-ends", "show-nonprinting"),
            *("show-tabs", "squeeze-blank", *_COMMON),
        }
    ),
    "head": frozenset({"quiet", "silent", "verbose", "zero-terminated", *_COMMON}),
    "tail": frozenset({"quiet", "silent", "verbose", "zero-terminated", *_COMMON}),
    "wc": frozenset({"bytes", "chars", "lines", "max-line-length", "words", *_COMMON}),
    "basename": frozenset({"multiple", "zero", *_COMMON}),
    "dirname": frozenset({"zero", *_COMMON}),
    "realpath": frozenset(
        {
            *("canonicalize-existing", "canonicalize-missing", "logical", "no-symlinks"),
            *("physical", "quiet", "strip", "zero", *_COMMON),
        }
    ),
}


class ManagedCommand(msgspec.Struct, frozen=True):
    """A command the managed bash may start, as an argv."""

    words: tuple[str, ...]
    operands: tuple[str, ...]
    """The words that may be paths; each must lie in the mount of the working directory."""


class NotManaged(msgspec.Struct, frozen=True):
    """Why the managed bash does not run a command: one sentence for the model."""

    reason: str


def managed_command(command: str) -> ManagedCommand | NotManaged:
    """Judge a command text for the managed bash."""
    words = plain_command.plain_words(command)
    if words is None:
        return NotManaged(
            "This bash runs one plain command: a bare program name and literal words, without"
            " pipes, redirections, variables, wildcards or backslashes."
        )
    program, arguments = words[0], words[1:]
    if program not in PROGRAMS:
        return NotManaged(f"This bash runs only {', '.join(PROGRAMS)}; not {program}.")
    if program in _ALONE:
        if arguments:
            return NotManaged(f"Here {program} takes no arguments.")
        return ManagedCommand(words=words, operands=())
    operands = _operands(program, arguments)
    if isinstance(operands, NotManaged):
        return operands
    return ManagedCommand(words=words, operands=operands)


def _operands(program: str, arguments: Sequence[str]) -> tuple[str, ...] | NotManaged:
    found: list[str] = []
    waiting = iter(arguments)
    for word in waiting:
        if word == "--":
            found.extend(waiting)
        elif word.startswith("--"):
            if word[2:] not in _LONG[program]:
                return NotManaged(
                    f"Here {program} does not take {word}: long options are taken by their whole"
                    " name and only without a value."
                )
        elif word.startswith("-") and len(word) > 1:
            if any(letter in word for letter in _REFUSED_LETTERS.get(program, "")):
                return NotManaged(f"Here {program} does not take {word}.")
            if _wants_value(program, word):
                next(waiting, None)
        else:
            found.append(word)
    for word in found:
        if not word or word.startswith("-"):
            return NotManaged(f"Here {program} takes no operand {word!r}: it is not a path.")
    return tuple(found)


def _wants_value(program: str, cluster: str) -> bool:
    """Whether the value of the cluster's last option is the next word."""
    places = [cluster.find(letter) for letter in _WITH_VALUE.get(program, "")]
    first = min((place for place in places if place > 0), default=0)
    return first == len(cluster) - 1
