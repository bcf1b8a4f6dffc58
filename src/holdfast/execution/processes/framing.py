"""What a persistent bash is told for each command, and what it answers: text and bytes, no I/O.

Bash reads its script from a pipe (`bash -s`), so that no loop and no function surrounds a command:
`break`, `return` and `declare` mean what they mean anywhere. A frame is two lines. The first runs
the command as one quoted word under `eval`, its output redirected to pipes of its own. The second
answers on a descriptor that is closed while the command runs.

The second line has to work whatever the command did. It begins with an assignment, which no
function or alias can replace: while POSIXLY_CORRECT is set, bash finds its special builtins before
functions of the same name. It is set to the exit status, which is so kept. Options and traps end
with their command. A shell that cannot answer ends with the command's status, which says the same.
An empty line follows: only a shell that does not execute what it reads (after `set -n`) reads past
the answer without having given one.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

# Descriptor 3 is where it answers.
FIRST_PIPE = 4
"""From here on, pipes for output: for each pair the one of stdout, then the one of stderr."""

_FIELDS = 5
_SIGNS = (b"", b"-", b"gone", b"-gone")
MOST_VARIABLES = 4 * 1024 * 1024
"""Bytes of an answer's variables; a command could not be started with so many anyway."""

# Opened by name, a pipe has a writer more: who holds it after the command is then known.
_RUN = "\\eval {text} <$_0 >$_{out} 2>$_{err} 3>&${{_0:_o=0:0}}-\n"
"""The last redirection leaves a sign that the others worked, and with them the command. It says
`-` whatever the sign was before: one that is there already is set again, and read as there."""
_AND_ANSWER = 'POSIXLY_CORRECT=$?;_n={number};\\eval "$_a"\n\n'
_BACK = "\\builtin test . -ef {cwd}||\\builtin cd -- {cwd}||{{ \\builtin cd -- {home}&&_g=gone;}};"
"""A directory that was removed and made again is another one."""

_ANSWER = (
    r"\set +aefkmuvxCEPTt;\set -hB -o pipefail;"
    r"\trap - DEBUG ERR EXIT RETURN HUP INT QUIT USR1 USR2 PIPE ALRM TERM CHLD CONT WINCH;"
    r"\unset -f builtin eval;"
    r"\export -p >&3&&"
    r"""\builtin printf '\0%s%s\0%s\0%s\0%s\0' "${_o+-}" "${_g+gone}" "${DIRSTACK[0]-}" """
    r""""$POSIXLY_CORRECT" "$_n" >&3||\exit "$POSIXLY_CORRECT";"""
    r"\unset _o _g _n POSIXLY_CORRECT"
)

_BROKEN_PARSER = re.compile(rb"eval: line \d+: unexpected EOF while looking for matching `\)'\s*$")
_EXPORTED = re.compile(rb"(?:export|declare -\w+) ([A-Za-z_]\w*)(=?)")
_PLAIN = re.compile(rb'"((?:[^"\\]|\\.)*)"\n', re.DOTALL)
_ESCAPED = re.compile(rb"\$'((?:[^'\\]|\\.)*)'\n", re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_MEANS = {b"E": b"\x1b", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r"} | {
    b"t": b"\t",
    b"v": b"\v",
}


class Garbled(Exception):
    """Something else than variables was written where they go."""


class Answer(NamedTuple):
    """What the shell says after a command."""

    ran: bool
    """False: its output could not be redirected, and it was not run."""
    moved: bool
    """Its directory was gone, and it was run in another."""
    cwd: str
    status: int
    variables: bytes | None
    """The exported ones, as bash prints them; None: they are too many."""


def opening(pipes: Iterable[int]) -> str:
    """What a new shell is told first."""
    names = " ".join(f"_{pipe}=/proc/self/fd/{pipe}" for pipe in pipes)
    own = f"readonly _a={quoted(_ANSWER)} _0=/dev/null {names};BASH_ARGV0=bash;set -o pipefail\n"
    return f"unset -v _o _g _n POSIXLY_CORRECT;{own}"


def frame(text: str, pair: int, number: int, back: tuple[str, str] | None = None) -> str:
    """What it is told to run a command with one of its pairs of pipes.

    The number tells its answer from any other. ``back``: where it ought to be, and where it goes
    when that is gone.
    """
    out = FIRST_PIPE + 2 * pair
    first = "" if back is None else _BACK.format(cwd=quoted(back[0]), home=quoted(back[1]))
    run = _RUN.format(text=quoted(text), out=out, err=out + 1)
    return first + run + _AND_ANSWER.format(number=number)


def quoted(text: str) -> str:
    """A text as one word of the shell that means itself."""
    return "'" + text.replace("'", "'\\''") + "'"


def changing(variables: Mapping[str, str], forgotten: Iterable[str]) -> str:
    """What it is told in front of a frame to export variables, and to forget others."""
    told = [f"\\builtin export {name}={quoted(value)};" for name, value in variables.items()]
    told += [f"\\builtin unset -v {name};" for name in forgotten]
    return "".join(told)


def breaks_the_parser(printed: bytes) -> bool:
    """Whether bash stumbles over a later command: it does after `$(` without its end."""
    return _BROKEN_PARSER.search(printed) is not None


class AnswerReader:
    """Finds the answer to one question in the pieces it comes in, whatever else may be there."""

    def __init__(self, number: int) -> None:
        self._number = str(number).encode()
        self._fields: deque[bytes | None] = deque(maxlen=_FIELDS)
        self._rest = b""
        self._too_long = False

    def feed(self, piece: bytes) -> Answer | None:
        """The answer, once it is complete."""
        *complete, self._rest = (self._rest + piece).split(b"\0")
        for field in complete:
            self._fields.append(None if self._too_long else field)
            self._too_long = False
            if field == self._number and (answer := self._answer()) is not None:
                return answer
        if len(self._rest) > MOST_VARIABLES:
            self._rest, self._too_long = b"", True
        return None

    def _answer(self) -> Answer | None:
        if len(self._fields) < _FIELDS:
            return None
        variables, signs, cwd, status, _ = self._fields
        if signs not in _SIGNS or not (status and status.isdigit()) or cwd is None:
            return None
        return Answer(
            ran=signs.startswith(b"-"),
            moved=signs.endswith(b"gone"),
            cwd=cwd.decode("utf-8", "surrogateescape"),
            status=int(status),
            variables=variables,
        )


def exported(printed: bytes) -> dict[str, str]:
    """The variables that `export -p` printed, as a process would get them; raises Garbled."""
    return dict(_each_exported(printed))


def _each_exported(printed: bytes) -> Iterator[tuple[str, str]]:
    here = 0
    while here < len(printed):
        named = _EXPORTED.match(printed, here)
        if named is None:
            raise Garbled
        here = named.end()
        if not named[2]:
            here += 1  # declared without a value: no process gets it
            continue
        plain = _PLAIN.match(printed, here)
        escaped = None if plain else _ESCAPED.match(printed, here)
        found = plain or escaped
        if found is None:
            raise Garbled
        value = _ESCAPE.sub(_meant if escaped else rb"\1", found[1])
        yield named[1].decode("ascii"), value.decode("utf-8", "surrogateescape")
        here = found.end()


def _meant(escape: "re.Match[bytes]") -> bytes:
    sign = escape[1]
    return bytes([int(sign, 8) & 0xFF]) if sign[:1].isdigit() else _MEANS.get(sign, sign)
