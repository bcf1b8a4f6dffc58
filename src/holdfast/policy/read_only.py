"""Two questions about a command that would need a person: is there a way that only reads?

`alternatives` names the call of read, glob, grep or bash that answers what the command asks;
`is_read_only` says that a command changes nothing. Both are hints: the first is offered to a model,
the second only spares a prompt. Neither permits anything, and both say nothing when unsure.
Whether a path may be read is not known here; the tool that is called judges that itself.
"""

import posixpath
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TypeAlias

import msgspec

from holdfast.contract.json_value import JsonObject
from holdfast.contract.late_pattern import late_pattern
from holdfast.policy import managed_bash, plain_command

WORKSPACE = "/workspace"

_NO_ARGUMENTS: Mapping[str, object] = MappingProxyType({})
_LISTED = 80
_FOUND_BY_RG = 40
_USUAL_LINES = 10


class Suggestion(msgspec.Struct, frozen=True):
    """A call that only reads."""

    tool: Literal["read", "glob", "grep", "bash"]
    args: JsonObject


class Alternatives(msgspec.Struct, frozen=True):
    """What can be called instead of a shell command."""

    preferred: Suggestion | None = None
    """read, glob or grep where one fits, else the bash form."""
    bash: Suggestion | None = None


def alternatives(
    command: str, cwd: str = WORKSPACE, extra: Mapping[str, object] = _NO_ARGUMENTS
) -> Alternatives:
    """The calls that ask what the command asks.

    `cwd` is the shell's own directory; `extra` holds the other arguments of the shell call, whose
    cwd goes before it and whose timeout_ms is carried over.
    """
    words = plain_command.plain_words(command)
    if words is None:
        return Alternatives()
    directory = _directory(cwd, extra)
    shape = _SHAPES.get(words[0])
    fitting = shape(words[1:], directory) if shape else None
    bash = _bash(command, directory, extra)
    return Alternatives(preferred=fitting or bash, bash=bash)


def _directory(cwd: str, extra: Mapping[str, object]) -> str:
    own = extra.get("cwd")
    chosen = own if isinstance(own, str) else cwd
    return _joined(chosen, "") if chosen.startswith("/") else WORKSPACE


def _joined(directory: str, operand: str) -> str:
    path = posixpath.normpath(posixpath.join(directory, operand))
    return "/" + path.lstrip("/")  # two leading slashes are kept by normpath


def _bash(command: str, directory: str, extra: Mapping[str, object]) -> Suggestion | None:
    judged = managed_bash.managed_command(command)
    if isinstance(judged, managed_bash.NotManaged):
        return None
    args: JsonObject = {"command": shlex.join(judged.words), "workdir": directory}
    timeout = extra.get("timeout_ms")
    if isinstance(timeout, int) and not isinstance(timeout, bool) and timeout > 0:
        args["timeout_ms"] = timeout
    return Suggestion("bash", args)


def _is_path(word: str) -> bool:
    return bool(word) and not word.startswith("-")


def _whole_file(words: Sequence[str], directory: str) -> Suggestion | None:
    match words:
        case [file] if _is_path(file):
            return Suggestion("read", {"path": _joined(directory, file)})
        case _:
            return None


def _first_lines(words: Sequence[str], directory: str) -> Suggestion | None:
    return _some_lines(words, directory, "line_count")


def _last_lines(words: Sequence[str], directory: str) -> Suggestion | None:
    return _some_lines(words, directory, "tail_lines")


# Longer counts are no counts anybody means, and no JSON reader keeps them exact.
_COUNT = r"[1-9][0-9]{0,14}"
_RANGE = late_pattern(f"({_COUNT}),({_COUNT})p")


def _some_lines(words: Sequence[str], directory: str, key: str) -> Suggestion | None:
    match words:
        case [file] if _is_path(file):
            count = _USUAL_LINES
        case ["-n", written, file] if _is_path(file) and re.fullmatch(_COUNT, written):
            count = int(written)
        case _:
            return None
    return Suggestion("read", {"path": _joined(directory, file), key: count})


def _line_range(words: Sequence[str], directory: str) -> Suggestion | None:
    match words:
        case ["-n", program, file] if _is_path(file) and (found := _RANGE.fullmatch(program)):
            first, last = int(found[1]), int(found[2])
        case _:
            return None
    if first > last:
        return None
    path = _joined(directory, file)
    return Suggestion("read", {"path": path, "start_line": first, "line_count": last - first + 1})


def _line_count(words: Sequence[str], directory: str) -> Suggestion | None:
    match words:
        case ["-l", file] if _is_path(file):
            return Suggestion("read", {"path": _joined(directory, file), "line_count": 1})
        case _:
            return None


def _listing(words: Sequence[str], directory: str) -> Suggestion | None:
    _, operands = _flags(words, "Aal1")
    match operands:
        case []:
            path = directory
        case [folder] if _is_path(folder):
            path = _joined(directory, folder)
        case _:
            return None
    return Suggestion("glob", {"path": path, "pattern": "*", "limit": _LISTED})


def _flags(words: Sequence[str], known: str) -> tuple[set[str], list[str]]:
    """The letters of the leading option words made of known letters only, and the other words."""
    letters: set[str] = set()
    for place, word in enumerate(words):
        if not re.fullmatch(f"-[{known}]+", word):
            return letters, list(words[place:])
        letters.update(word[1:])
    return letters, []


_KINDS = {"f": "file", "d": "directory"}


def _names(words: Sequence[str], directory: str) -> Suggestion | None:
    match words:
        case ["-name", pattern]:
            folder, letter = "", None
        case ["-type", "f" | "d" as letter, "-name", pattern]:
            folder = ""
        case [folder, "-name", pattern] if _begins_find(folder):
            letter = None
        case [folder, "-type", "f" | "d" as letter, "-name", pattern] if _begins_find(folder):
            pass
        case _:
            return None
    if not _same_for_glob(pattern):
        return None
    args: JsonObject = {"path": _joined(directory, folder), "pattern": f"**/{pattern}"}
    if letter is not None:
        args["kind"] = _KINDS[letter]
    return Suggestion("glob", {**args, "limit": _LISTED})


def _begins_find(word: str) -> bool:
    """Whether find takes the word for a folder: quoted, a parenthesis is still an expression."""
    return _is_path(word) and word[0] not in "(),!"


def _same_for_glob(pattern: str) -> bool:
    """Whether glob reads the pattern as find does: no slash can match, brackets are plain text."""
    return _is_path(pattern) and "**" not in pattern and not set("/[]{}") & set(pattern)


# What grep, ripgrep and our own grep read alike. In a basic expression + ? | ( ) { } are plain
# text, in the others they are not, so a query that holds one of them is refused there.
_ATOM = r"(?:[^\\^$.*+?(){}|\[\]]|\.|\[\^?(?:0-9|a-z|A-Z|[A-Za-z0-9_])+\])"
_BASIC = late_pattern(rf"\^?(?:{_ATOM}\*?)*\$?")
_BRANCH = rf"\^?(?:{_ATOM}[*+?]?)+\$?"
_EXTENDED = late_pattern(rf"{_BRANCH}(?:\|{_BRANCH})*")


def _lines_by_grep(words: Sequence[str], directory: str) -> Suggestion | None:
    letters, operands = _flags(words, "niFrR")
    literal = "F" in letters
    args = _query(operands, directory, None if literal else _BASIC)
    if args is None:
        return None
    return Suggestion("grep", {**args, "case_sensitive": "i" not in letters, "regex": not literal})


def _lines_by_rg(words: Sequence[str], directory: str) -> Suggestion | None:
    letters, operands = _flags(words, "ni")
    args = _query(operands, directory, _EXTENDED)
    if args is None:
        return None
    asked: JsonObject = {"case_sensitive": "i" not in letters, "regex": True}
    return Suggestion("grep", {**args, **asked, "limit": _FOUND_BY_RG})


def _query(
    operands: Sequence[str], directory: str, agreed: re.Pattern[str] | None
) -> JsonObject | None:
    """The path and the pattern, unless the pattern means something else to our grep."""
    match operands:
        case [pattern]:
            path = directory
        case [pattern, place] if _is_path(place):
            path = _joined(directory, place)
        case _:
            return None
    if not _is_path(pattern) or (agreed is not None and not agreed.fullmatch(pattern)):
        return None
    return {"path": path, "pattern": pattern}


_Shape: TypeAlias = Callable[[Sequence[str], str], Suggestion | None]
_SHAPES: dict[str, _Shape] = {
    "cat": _whole_file,
    "head": _first_lines,
    "tail": _last_lines,
    "sed": _line_range,
    "wc": _line_count,
    "ls": _listing,
    "find": _names,
    "grep": _lines_by_grep,
    "rg": _lines_by_rg,
}


_ONLY_READ = frozenset({"ls", "pwd", "echo", "cat", "head", "tail", "wc", "grep"})
_FIND_ACTS = ("-exec", "-ok", "-delete", "-fprint", "-fls")
_RG_STARTS_PROGRAMS = ("--pre", "--hostname-bin", "--search-zip")
_GIT_READS = frozenset({"status", "log", "diff", "show", "ls-files", "rev-parse", "blame"})
_GIT_REACHES_OUT = (
    *("--exec-path", "--git-dir", "--upload-pack", "--receive-pack"),
    *("--work-tree", "--config-env", "--output", "--ext-diff", "--textconv", "--show-signature"),
)


def is_read_only(command: str) -> bool:
    """Whether the command surely changes nothing. Only to spare a prompt, never to permit."""
    words = plain_command.plain_words(command)
    if words is None:
        return False
    program, arguments = words[0], words[1:]
    match program:
        case "find":
            return not any(word.startswith(_FIND_ACTS) for word in arguments)
        case "rg":
            return not any(
                _spells(word, _RG_STARTS_PROGRAMS) or _clusters(word, "z") for word in arguments
            )
        case "git":
            return _git_reads(arguments)
        case _:
            return program in _ONLY_READ


def _git_reads(arguments: Sequence[str]) -> bool:
    """Whether git is asked by one of its reading verbs, with no option before it but the one."""
    verb, *options = (*arguments, "")
    if verb == "--no-pager":
        verb, *options = options
    return verb in _GIT_READS and not any(
        _spells(word, _GIT_REACHES_OUT) or _clusters(word, "c") or "%G" in word
        for word in options  # %G in a format makes git start the signature program
    )


def _spells(word: str, options: Sequence[str]) -> bool:
    """Whether the word is one of the long options, whole, with its value, or abbreviated."""
    name = word.partition("=")[0]
    return len(name) > 2 and any(option.startswith(name) for option in options)


def _clusters(word: str, letter: str) -> bool:
    """Whether the word is a cluster of short options that may hold the letter."""
    return word.startswith("-") and not word.startswith("--") and letter in word
