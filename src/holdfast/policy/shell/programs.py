"""Programs with a way of their own to run something: shells, eval, find, git, awk, interpreters."""

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from holdfast.policy.shell.inside import Inside, doubted, program_name, shell_text
from holdfast.policy.shell.runners import (
    AWK_RUNS,
    AWK_WRITES,
    CODE_FLAGS,
    CODE_MODULES,
    FOREIGN_SHELLS,
    GIT_HARMLESS_SETTING,
    GIT_OPTIONS,
    GIT_RUNS,
    GIT_RUNS_ANYWHERE,
    GIT_VALUED,
    PROGRAM_FLAGS,
    PYTHON_MODULE,
    PYTHON_PLAIN,
    SED_PLAIN,
    SHELLS,
    STREAM,
    VALUED_BEFORE_SCRIPT,
)
from holdfast.policy.shell.tame import ONLY_READS
from holdfast.policy.shell.values import Word, shown

_TELLS_ABOUT_ITSELF = frozenset({"--version", "-V", "--help", "-h"})
_PYTHON = frozenset({"python", "pypy"})
_RUN = frozenset({("bun", "run"), ("deno", "run")})
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FIND_HANDS_OVER = frozenset({"-exec", "-execdir"})
_FIND_CHANGES = frozenset({"-delete", "-fprint", "-fprint0", "-fprintf", "-fls"})
_HARMLESS_SET = re.compile(r"[-+][eux]*(?:o)?|pipefail|errexit|nounset|xtrace")
# With others, as `-k` and `-O expand_aliases`, the same text means something else.
_HARMLESS_LETTERS = re.compile(r"[-+][celuvx]*o?[celuvx]*")
_HARMLESS_SETTINGS = frozenset({"pipefail", "errexit", "nounset", "xtrace", "verbose"})
_VERSION = "0123456789.-"
_NOTHING = re.compile(r"(?!)")


def _shell(words: Sequence[Word]) -> Inside | None:
    """``bash -c TEXT``; a script file is like any other program file."""
    name = _name(words)
    found = Inside(plain_shell=name != "bash")
    if name in FOREIGN_SHELLS:
        found.doubts.append(f"{shown(name)} reads text in its own way")
    position, text_follows = _shell_options(words, found)
    rest = words[position:]
    if text_follows:
        shell_text(found, rest[0] if rest else Word("", "", "missing"))
    elif STREAM.fullmatch(rest[0].literal if rest else "/dev/stdin") and not any(
        word.literal == "--version" for word in words
    ):
        found.doubts.append(f"{shown(name)} runs whatever it is given to read")
    return found


def _shell_options(words: Sequence[Word], found: Inside) -> tuple[int, bool]:
    position, text_follows = 1, False
    while position < len(words) and words[position].literal[:1] in {"-", "+"}:
        option = words[position].literal
        position += 1
        if option in {"--", "-"}:
            break
        if option.startswith("--"):
            if option not in {"--norc", "--noprofile", "--posix", "--login", "--version"}:
                found.doubts.append(f"{shown(option)} is not followed here")
            continue
        text_follows = text_follows or "c" in option  # `+c` is `-c`
        if "s" in option or "i" in option:
            found.doubts.append(f"{shown(f'{words[0].literal} {option}')} reads more commands")
        elif not _HARMLESS_LETTERS.fullmatch(option):
            found.doubts.append(f"{shown(f'{words[0].literal} {option}')} changes the shell")
        if "o" in option or "O" in option:
            _shell_setting(words[position : position + 1], found)
            position += 1
    return position, text_follows


def _shell_setting(value: Sequence[Word], found: Inside) -> None:
    if not value or value[0].source not in _HARMLESS_SETTINGS:
        found.doubts.append("a setting of the inner shell is not followed here")


def _eval(words: Sequence[Word]) -> Inside | None:
    """All words of eval, joined, are shell text."""
    found = Inside()
    rest = words[2:] if len(words) > 1 and words[1].literal == "--" else words[1:]
    dynamic = [word for word in rest if word.doubt is not None]
    if len(rest) == 1 and dynamic:
        shell_text(found, rest[0])
    else:
        found.texts.append(" ".join([word.literal for word in rest]))
    if dynamic:
        found.doubts.append("the shell text of `eval` is not literal")
    return found


def _trap(words: Sequence[Word]) -> Inside | None:
    """``trap TEXT SIGNAL``."""
    rest = [word for word in words[1:] if word.literal not in {"--", "-p", "-l"}]
    found = Inside()
    if len(rest) > 1 and rest[0].literal not in {"-", ""}:
        shell_text(found, rest[0])
    return found


def _find(words: Sequence[Word]) -> Inside | None:
    found = Inside()
    position = 1
    while position < len(words):
        text = words[position].literal
        position += 1
        if text in _FIND_CHANGES:
            found.doubts.append(f"`find {text}` changes files")
        elif text in _FIND_RUNS:
            end = position
            while end < len(words) and words[end].literal not in {";", "+"}:
                end += 1
            inner = [_found_name(word) for word in words[position:end]]
            if text not in _FIND_HANDS_OVER or not _only_reads(inner):
                given = shown(" ".join([word.source for word in inner]))
                found.doubts.append(f"`find {text}` gives {given} file names not in the text")
            if inner:
                found.commands.append(inner)
            position = end + 1
    return found


def _found_name(word: Word) -> Word:
    """A word of the inner command; find puts each name it finds in the place of ``{}``."""
    return msgspec.structs.replace(word, expands=True) if "{}" in word.literal else word


def _only_reads(inner: Sequence[Word]) -> bool:
    """Whether the names found cannot matter, whatever they are.

    They begin like the folder that is searched, and a program that only reads has neither an
    option nor an operand that does more.
    """
    return bool(inner) and inner[0].doubt is None and inner[0].literal in ONLY_READS


def _git(words: Sequence[Word]) -> Inside | None:
    found = Inside()
    position = 1
    while position < len(words) and words[position].literal.startswith("-"):
        option = words[position].literal
        value = words[position + 1].literal if position + 1 < len(words) else ""
        setting = option == "-c" and GIT_HARMLESS_SETTING.fullmatch(value)
        if GIT_OPTIONS.fullmatch(option) and not setting:
            found.doubts.append(f"{shown(f'git {option} {value}')} can run other programs")
        position += 2 if option in GIT_VALUED else 1
    subcommand, *arguments = [word.literal for word in words[position:]] or [""]
    pattern = GIT_RUNS.get(subcommand, _NOTHING)
    for argument in arguments:
        if pattern.fullmatch(argument) or GIT_RUNS_ANYWHERE.fullmatch(argument):
            found.doubts.append(f"{shown(f'git {subcommand} {argument}')} can run or write more")
    return found


def _awk(words: Sequence[Word]) -> Inside | None:
    """An awk program can run commands and open files."""
    for word in words[1:]:
        if AWK_RUNS.search(word.literal):
            return doubted(f"the awk program {shown(word.literal)} can run commands or open files")
    # The program may come in several words.
    whole = " ".join([word.literal for word in words[1:]])
    if AWK_WRITES.search(whole):
        return doubted(f"the awk program {shown(whole)} can run commands or open files")
    return None


def _sed(words: Sequence[Word]) -> Inside | None:
    """Only scripts of well-known instructions are let through."""
    scripts = list(_sed_scripts([word.literal for word in words[1:]]))
    for script in scripts:
        for instruction in script.split(";") if "\\;" not in script else [script]:
            if not SED_PLAIN.fullmatch(instruction.strip()):
                return doubted(f"the sed script {shown(script)} can run commands or open files")
    return None


def _sed_scripts(arguments: list[str]) -> Iterator[str]:
    taken = False
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        if argument in {"-e", "--expression"}:
            taken = True
            yield waiting.pop(0) if waiting else ""
        elif argument.startswith("-") and argument != "-":
            if not re.fullmatch(
                r"-[nErsuzi]+|-i\.\w+|--(?:quiet|silent|regexp-extended|in-place)", argument
            ):
                taken = True
                yield argument
        elif not taken:
            taken = True
            yield argument


def _interpreter(words: Sequence[Word]) -> Inside | None:
    """Code in an argument, or from standard input, is opaque; a script file is not looked at."""
    name = _name(words)
    flags = CODE_FLAGS[name]
    valued = VALUED_BEFORE_SCRIPT.get(name, frozenset())
    arguments = [word.literal for word in words[1:]]
    files = False
    previous = ""
    for argument in arguments:
        if name in _PYTHON and (module := PYTHON_MODULE.fullmatch(previous)):
            return _module(name, module[1] or argument)
        if flags.fullmatch(argument):
            return doubted(f"{shown(f'{name} {argument}')} runs code that is not followed here")
        if STREAM.fullmatch(argument):
            return doubted(f"{shown(name)} runs whatever it is given to read")
        if not argument.startswith("-") and (name, argument) not in _RUN:
            if _is_followed_by_a_script(name, previous):
                return None
            files = files or previous not in valued
        previous = argument
    if name in _PYTHON and (module := PYTHON_MODULE.fullmatch(previous)):
        return _module(name, module[1])
    # To python -v is no question but a noisier way to read.
    asks = _TELLS_ABOUT_ITSELF if name in _PYTHON else _TELLS_ABOUT_ITSELF | {"-v"}
    if not files and not asks.intersection(arguments):
        return doubted(f"{shown(name)} runs whatever it is given to read")
    return None


def _is_followed_by_a_script(name: str, previous: str) -> bool:
    """Whether the next word is the script for certain, and no value of an option."""
    if name in _PYTHON and PYTHON_PLAIN.fullmatch(previous):
        return True
    return not previous.startswith("-")


def _module(name: str, module: str) -> Inside | None:
    return doubted(f"{shown(f'{name} -m {module}')} runs code") if module in CODE_MODULES else None


def _program_flags(words: Sequence[Word]) -> Inside | None:
    name = program_name(words[0])
    pattern = PROGRAM_FLAGS.get(name) or PROGRAM_FLAGS[name.rstrip(_VERSION)]
    found = [word.literal for word in words[1:] if pattern.fullmatch(word.literal)]
    return doubted(*(f"{shown(f'{name} {text}')} can run other programs" for text in found))


def _set(words: Sequence[Word]) -> Inside | None:
    if all(_HARMLESS_SET.fullmatch(word.literal) for word in words[1:]):
        return None
    return doubted(f"{shown(' '.join(word.source for word in words))} changes the shell")


def _test_or_printf(words: Sequence[Word]) -> Inside | None:
    """``test -v``, ``printf -v``, ``wait -p`` and ``jobs -x`` evaluate or run their argument."""
    for word in words[1:]:
        if (
            word.literal[:2] in {"-v", "-R", "-p", "-x"}
            and _name(words) in _EVALUATES[word.literal[:2]]
        ):
            return doubted(f"{shown(f'{words[0].literal} {word.literal}')} evaluates its argument")
    return None


_EVALUATES: dict[str, frozenset[str]] = {
    "-v": frozenset({"test", "printf", "["}),
    "-R": frozenset({"test", "["}),
    "-p": frozenset({"wait"}),
    "-x": frozenset({"jobs"}),
}


def _name(words: Sequence[Word]) -> str:
    name = program_name(words[0])
    return name if name in SHELLS or name in CODE_FLAGS else name.rstrip(_VERSION)


PROGRAMS: dict[str, Callable[[Sequence[Word]], Inside | None]] = {
    **dict.fromkeys(PROGRAM_FLAGS, _program_flags),
    **dict.fromkeys(CODE_FLAGS, _interpreter),
    **dict.fromkeys(SHELLS, _shell),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("test", "[", "printf", "wait", "jobs"), _test_or_printf),
    "eval": _eval,
    "trap": _trap,
    "find": _find,
    "gfind": _find,
    "git": _git,
    "set": _set,
}
