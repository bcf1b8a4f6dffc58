"""Takes the inner command out of a program that runs another one.

Works on words alone. What is inside is handed back, not judged; what cannot be followed is a doubt.
"""

import itertools
import re
from collections.abc import Callable, Collection, Sequence
from functools import partial

from holdfast.policy.shell.inside import Inside, doubted, program_name, shell_text
from holdfast.policy.shell.options import scan
from holdfast.policy.shell.programs import PROGRAMS
from holdfast.policy.shell.tame import HARMLESS_ASSIGNMENT
from holdfast.policy.shell.values import Word, shown
from holdfast.policy.shell.wrappers import (
    CHANGES_THE_SHELL,
    GROUPS,
    NOT_FOLLOWED,
    PLACE_BEFORE_COMMAND,
    TWO_WORD_WRAPPERS,
    WRAPPERS,
    Wrapper,
)

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=.*", re.DOTALL)
_LOADER = re.compile(r"ld-(?:linux|musl).*|ld(?:64)?\.so.*")
# python3.11, perl5.36, bash-5.2
_VERSION = "0123456789.-"


def inside(words: Sequence[Word]) -> Inside | None:
    """What the command runs besides itself; None for a program that runs nothing else."""
    name = program_name(words[0])
    handler = _KNOWN.get(name) or _KNOWN.get(name.rstrip(_VERSION))
    if handler is not None:
        return handler(words)
    if name.startswith("git-"):
        return PROGRAMS["git"]([Word("git", "git"), Word(name[4:], name[4:]), *words[1:]])
    return _loader(words) if _LOADER.fullmatch(name) else None


def _wrapped(words: Sequence[Word], wrapper: Wrapper) -> Inside:
    name = words[0].literal
    read = scan(words, wrapper)
    found = Inside(doubts=read.doubts)
    if read.asks:
        return found
    if wrapper.doubt is not None:
        told = shown(" ".join([word.source for word in read.rest]) or name)
        found.doubts.append(f"{shown(name)} {wrapper.doubt.format(inner=told)}")
    for text in read.texts:
        shell_text(found, text)
    rest = _behind_operands(found, read.rest, wrapper)
    if rest:
        _inner(found, rest, wrapper)
    elif not read.texts and wrapper.alone is not None:
        found.doubts.append(f"{shown(name)} {wrapper.alone}")
    return found


def _inner(found: Inside, rest: list[Word], wrapper: Wrapper) -> None:
    if rest[0].literal == "-c" and len(rest) > 1:
        shell_text(found, rest[1])
    elif wrapper.joined:
        found.texts.append(" ".join(word.literal for word in rest))
    elif not wrapper.options_anywhere:
        found.commands.append(rest)


def _behind_operands(found: Inside, rest: list[Word], wrapper: Wrapper) -> list[Word]:
    rest = rest[wrapper.operands :]
    while wrapper.assigns and rest and _ASSIGNMENT.fullmatch(rest[0].literal):
        if HARMLESS_ASSIGNMENT.fullmatch(rest[0].source):
            found.assigns = True
        else:
            found.doubts.append(f"the assignment {shown(rest[0].source)} changes the command")
        rest = rest[1:]
    return rest


def _two_words(words: Sequence[Word], subcommands: Collection[str]) -> Inside | None:
    """`poetry run CMD`: followed only where no option stands between."""
    literals = [word.literal for word in words]
    position = next((i for i, text in enumerate(literals) if text in subcommands), None)
    if position is None or _names_another(literals[:position]):
        return None  # the word stands where another subcommand takes an argument
    inner = words[position + 1 :]
    found = Inside()
    named_first = program_name(words[0]) in PLACE_BEFORE_COMMAND
    if not named_first and inner and inner[0].literal == "--":
        inner = inner[1:]
    if named_first or position > 1 or not inner or inner[0].literal.startswith("-"):
        found.doubts.append(f"{shown(' '.join(literals[: position + 1]))} runs another program")
    if named_first:
        inner = [word for word in inner[1:] if word.literal != "--"]
    elif found.doubts:
        return found
    if inner:
        found.commands.append(inner)
    return found


def _names_another(literals: Sequence[str]) -> bool:
    """Whether a subcommand stands among the words; behind an option it could be a value."""
    return any(
        not word.startswith("-") and word not in GROUPS and (at == 1 or before[:1] != "-")
        for at, (before, word) in enumerate(itertools.pairwise(literals), 1)
    )


def _loader(words: Sequence[Word]) -> Inside:
    found = doubted(f"{shown(words[0].source)} loads and runs another program")
    if len(words) > 1:
        found.commands.append(words[1:])
    return found


def _not_followed(words: Sequence[Word]) -> Inside:
    return doubted(f"{shown(words[0].source)} can run other programs")


def _changes_the_shell(words: Sequence[Word], how: str) -> Inside:
    return doubted(f"{shown(words[0].source)} {how}")


def _reader_of(wrapper: Wrapper) -> "Reader":
    return lambda words: _wrapped(words, wrapper)


Reader = Callable[[Sequence[Word]], Inside | None]

_KNOWN: dict[str, Reader] = {
    **dict.fromkeys(NOT_FOLLOWED, _not_followed),
    **{name: partial(_two_words, subcommands=then) for name, then in TWO_WORD_WRAPPERS.items()},
    **{name: _reader_of(wrapper) for name, wrapper in WRAPPERS.items()},
    **PROGRAMS,
    **{name: partial(_changes_the_shell, how=how) for name, how in CHANGES_THE_SHELL.items()},
}
