"""Words that are not literal, and yet known well enough for the program they are given to.

A word has a shape where its value is not known but its kind is. Here stands for which programs that
is enough, as closed lists; for any other program the doubt about the word remains. Whatever a
variable or the output of a command may hold has no shape.
"""

import re
from collections.abc import Sequence

import msgspec

from holdfast.policy.shell.values import Word
from holdfast.policy.shell.words import written_out

ONLY_READS = frozenset({
    "basename", "cat", "cksum", "cut", "dirname", "du", "echo", "egrep", "fgrep", "grep", "head",
    "ls", "md5sum", "nl", "readlink", "realpath", "rev", "sha1sum", "sha256sum", "sha512sum",
    "stat", "tac", "tail", "wc",
})  # fmt: skip
"""Programs without an option or an operand that writes a file or starts a program.

A pattern such as `*.py` may stand for a file that is named like an option. To these it matters not:
the worst option changes what is read or how it is shown. Not here are `sort` (`-o` writes), `uniq`
(its second operand is written), `file` (`-C` writes), `diff` (`-l` starts a program), `rg` (`--pre`
does), `find`, `tree`, `less` and `test`, which evaluates some operands.
"""

TAKES_A_NUMBER = frozenset({"[", "echo", "exit", "printf", "return", "test"})
"""Programs that show or compare a number and do nothing to what it may name.

`$?`, `$#` and `$$` are digits, at least one: no option, and never two words. `$!` may be empty and
is not among them. For `kill` or `rm` a number is a name like any other.
"""

HARMLESS_ASSIGNMENT = re.compile(
    r"(?:LANG|LC_[A-Z]+)=(?:(?:C|POSIX)(?:\.(?:UTF-8|utf8))?|[a-z]{2,3}_[A-Z]{2}\.(?:UTF-8|utf8))"
    r"|TZ=[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*"
    r"|(?:CI|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|RUST_BACKTRACE"
    r"|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE)=(?:[0-9]+|true|false|full)?"
    r"|TERM=[A-Za-z0-9+-]+"
)
"""Assignments in front of a command that name no program, no file and no code.

Language, time zone and terminal are looked up by name in places of the system; no value here can
lead elsewhere, and none makes bash read other characters than UTF-8. The others are switches. Any
other name may steer a program, and `NODE_ENV` or `DEBUG` may mean another database.
"""


def settled(words: Sequence[Word]) -> tuple[list[Word], list[str]]:
    """The words of one command with braces written out, and the doubts that remain."""
    program = words[0].literal if words[0].doubt is None else None
    known: list[Word] = []
    doubts: list[str] = []
    for word in words:
        if word.doubt is None:
            known.append(word)
        elif program is not None and word.shape == "braces":
            known += written_out(word.source) or ()
        elif program is not None and _is_enough(word, program):
            known.append(msgspec.structs.replace(word, doubt=None))
        else:
            known.append(word)
            doubts.append(word.doubt)
    return known, doubts


def _is_enough(word: Word, program: str) -> bool:
    match word.shape:
        case "number":
            return program in TAKES_A_NUMBER
        case "names":
            return program in ONLY_READS
        case "document":
            return True
        case _:
            return False
