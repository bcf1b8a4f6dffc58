"""One spelling for the many ways to write a command, so that a rule cannot be dodged by spelling.

    /bin/rm --recursive x -f     →  rm -f -r :: x
    git -C /tmp push -f origin   →  git push -C -C=/tmp -f :: origin

The program's base name in lower case; a subcommand; single-letter flags, each once and sorted,
known long flags by their letter, those before the subcommand with their values; then ``::``; then
the operands without quotes. A pattern gets the same form with a ``*`` wherever more flags may
stand, so that ``rm -rf /`` still covers ``rm -rfv /``: deny and ask rules grow by this, which is
safe, and allow rules are never matched against it.
"""

import re
from collections.abc import Sequence

import msgspec

from holdfast.contract.late_pattern import late_pattern
from holdfast.policy.shell.flags import (
    LONG_FLAGS,
    OPTIONS_BEFORE_SUBCOMMAND,
    SAME_LETTERS,
    SINGLE_DASH_WORDS,
    WITH_SUBCOMMAND,
)

_CLUSTER = late_pattern(r"-[A-Za-z0-9]+")
_TOUCHING_VALUE = late_pattern(r"-[A-Za-z0-9]+(?=[^A-Za-z0-9*])")
_PATTERN_WORD = late_pattern(r"""(?:\\.|'[^']*'|"[^"]*"|[^\s\\])+|\\""", re.DOTALL)
_QUOTES = late_pattern(r"""\\.|'([^']*)'|"([^"]*)\"""", re.DOTALL)


class _Parts(msgspec.Struct):
    name: str
    subcommand: str | None
    flags: list[str]
    operands: list[str]


def canonical(argv: Sequence[str]) -> str:
    """The one spelling of a command."""
    if not argv:
        return ""
    parts = _parts(argv)
    words = [parts.name]
    if parts.subcommand is not None:
        words.append(parts.subcommand)
    if len(parts.flags) > 1:
        parts.flags = sorted(set(parts.flags))
    return " ".join((*words, *parts.flags, "::", *parts.operands))


def canonical_pattern(pattern: str) -> str:
    """The same spelling for the pattern of a rule; ``*`` and backslash escapes stay as they are."""
    words = [_QUOTES.sub(_unquoted, word) for word in _PATTERN_WORD.findall(pattern)]
    if not words:
        return pattern
    parts = _parts(words)
    head = parts.name if parts.subcommand is None else f"{parts.name} {parts.subcommand}"
    if len(words) == head.count(" ") + 1 and head.endswith("*"):
        return head
    flags, flags_open = _pattern_flags(parts.flags)
    spelled = "".join(flag if flag == "-*" else f"*{flag} " for flag in flags)
    if parts.operands in ([], ["*"]) and (flags_open or parts.operands):
        return f"{head} {spelled}".rstrip("*") + "*"
    return " ".join((f"{head} {spelled}*::", *parts.operands))


def _pattern_flags(flags: list[str]) -> tuple[list[str], bool]:
    # Any value at all is what the flag by itself says.
    kept = [flag for flag in flags if not flag.endswith("=*")]
    closed = {flag if flag == "-*" or "=" in flag else flag.rstrip("*") for flag in kept}
    return sorted(closed), any(flag.endswith("*") for flag in flags)


def _unquoted(found: re.Match[str]) -> str:
    inner = found[1] if found[1] is not None else found[2]
    return found[0] if inner is None else inner


def _parts(argv: Sequence[str]) -> _Parts:
    name = argv[0].rpartition("/")[2].lower() or argv[0]
    words: Sequence[str] = argv[1:]
    if name.startswith("git-"):
        name, words = "git", (name[4:], *words)
    elif name == "tar" and words and words[0].isalnum():
        words = (f"-{words[0]}", *words[1:])
    before: list[str] = []
    subcommand = None
    if name in WITH_SUBCOMMAND:
        subcommand, before, words = _subcommand(name, words)
    parts = _Parts(name, subcommand, [], [])
    known = LONG_FLAGS.get(name if subcommand is None else f"{name} {subcommand}")
    split = name not in SINGLE_DASH_WORDS
    ended = False
    for word in words:
        if ended or not word.startswith("-") or word == "-":
            parts.operands.append(word)
        elif word == "--":
            ended = True
        elif word.startswith("--"):
            parts.flags.extend(_with_bare(_long_flag(word, known) if known else word))
        elif split and len(word) > 2:
            parts.flags.extend(_letters(word))
        else:
            parts.flags.append(word)
    parts.flags += before
    same = SAME_LETTERS.get(name)
    if same:
        parts.flags = [same.get(flag, flag) for flag in parts.flags]
    return parts


def _letters(word: str) -> list[str]:
    stem = word.rstrip("*")
    if not _CLUSTER.fullmatch(stem):
        touching = _TOUCHING_VALUE.match(word)
        return [word] if touching is None else [*_letters(touching[0]), word]
    letters = [f"-{letter}" for letter in stem[1:]]
    letters[-1] += word[len(stem) :]
    return letters


def _with_bare(flag: str) -> tuple[str, ...]:
    """A flag with a value is also that flag: a rule against it must not miss one that has one."""
    bare, equals, _ = flag.partition("=")
    return (bare, flag) if equals else (flag,)


def _long_flag(word: str, known: dict[str, str]) -> str:
    """A program takes any unambiguous beginning of a long flag; so does this."""
    stem, equals, value = word.partition("=")
    bare = stem.rstrip("*")
    if bare != "--":
        for long, short in known.items():
            if long.startswith(bare):
                return short + stem[len(bare) :] + equals + value
    return word


def _subcommand(name: str, words: Sequence[str]) -> tuple[str | None, list[str], Sequence[str]]:
    """The subcommand, the options in front of it with their values, and what comes behind it."""
    valued = OPTIONS_BEFORE_SUBCOMMAND.get(name, frozenset())
    before: list[str] = []
    position = 0
    while position < len(words) and words[position].startswith("-"):
        taken = 2 if words[position] in valued else 1
        before.extend(_with_bare("=".join(words[position : position + taken])))
        position += taken
    if position >= len(words):
        return None, [], words
    return words[position], before, words[position + 1 :]
