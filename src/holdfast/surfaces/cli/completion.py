"""`holdfast completion`: a completion script for a shell, written from the parsers themselves."""

from argparse import ZERO_OR_MORE, Action, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from holdfast.surfaces.cli.catalogue import parsers
from holdfast.surfaces.cli.parsing import Parser
from holdfast.surfaces.cli.screen import Screen


class Flag(NamedTuple):
    """One option of a verb."""

    spellings: tuple[str, ...]
    help: str
    takes_value: bool
    takes_path: bool
    choices: tuple[str, ...]


class Place(NamedTuple):
    """What can stand at one place among the words that are no options."""

    choices: tuple[str, ...]
    takes_path: bool
    is_last: bool
    """Whether all words from there on are of this kind."""


class Later(NamedTuple):
    """What can follow one of the first words of a verb."""

    choices: tuple[str, ...]
    takes_path: bool
    flags: tuple[Flag, ...]


class Words(NamedTuple):
    """What can follow a verb."""

    verb: str
    summary: str
    flags: tuple[Flag, ...]
    places: tuple[Place, ...]
    later: dict[str, Later]
    """By the first word, where that decides what follows."""


_EXAMPLES = """\
examples:
  holdfast completion bash > ~/.local/share/bash-completion/completions/holdfast
  holdfast completion zsh > ~/.zfunc/_holdfast     with that folder in fpath, before compinit
  holdfast completion fish > ~/.config/fish/completions/holdfast.fish
"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="which shell")
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    verbs = [_words(verb.name, verb.summary, parser) for verb, parser in parsers()]
    screen.raw(SCRIPTS[arguments.shell](verbs))
    return 0


def _words(name: str, summary: str, parser: Parser) -> Words:
    flags = {action.dest: _flag(action, parser) for action in parser.declared if _is_flag(action)}
    alone = [action for action in parser.declared if not _is_flag(action)]
    later = {
        word: Later(
            after.words,
            after.takes_path,
            tuple(
                flag
                for dest, flag in flags.items()
                if after.options is None or dest in after.options
            ),
        )
        for word, after in parser.after.items()
    }
    return Words(
        name,
        summary,
        flags=tuple(flags.values()),
        places=tuple(
            Place(parser.offered(one), _is_path(one), one.nargs == ZERO_OR_MORE) for one in alone
        ),
        later=later,
    )


def _is_flag(action: Action) -> bool:
    return bool(action.option_strings)


def _flag(action: Action, parser: Parser) -> Flag:
    wants = action.nargs != 0
    return Flag(
        spellings=tuple(action.option_strings),
        help=action.help or "",
        takes_value=wants,
        takes_path=wants and _is_path(action),
        choices=parser.offered(action),
    )


def _is_path(action: Action) -> bool:
    return str(action.metavar or "").startswith(("FILE", "DIR"))


def bash(verbs: list[Words]) -> str:
    """For bash 3.2 and newer."""
    first = _lines([*(words.verb for words in verbs), "--help", "--version"])
    valued = [(words.verb, flag) for words in verbs for flag in words.flags if flag.takes_value]
    with_value = "|".join(f"{verb}:{name}" for verb, flag in valued for name in flag.spellings)
    return "\n".join(
        [
            "# bash completion for holdfast; load it with: source <(holdfast completion bash)",
            "_holdfast() {",
            "    local IFS=$'\\n' words= first= place=0 at=2 verb=\"${COMP_WORDS[1]}\"",
            '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
            "    COMPREPLY=()",
            '    if [ "$COMP_CWORD" -eq 1 ]; then',
            f"        COMPREPLY=($(compgen -W $'{first}' -- \"$word\"))",
            "        return",
            "    fi",
            '    while [ "$at" -lt "$COMP_CWORD" ]; do',
            '        case "$verb:${COMP_WORDS[at]}" in',
            f"        {with_value}) at=$((at + 1)) ;;",
            "        *:-*) ;;",
            '        *) [ "$place" -eq 0 ] && first="${COMP_WORDS[at]}"; place=$((place + 1)) ;;',
            "        esac",
            "        at=$((at + 1))",
            "    done",
            '    case "$verb:$before" in',
            *(f"        {_bash_value(verb, flag)}" for verb, flag in valued),
            "    esac",
            '    case "$verb" in',
            *(f"        {words.verb}) words={_bash_flags(words.flags)} ;;" for words in verbs),
            "    esac",
            '    case "$verb:$first" in',
            *(
                f"        {words.verb}:{word}) words={_bash_flags(later.flags)} ;;"
                for words in verbs
                for word, later in words.later.items()
            ),
            "    esac",
            '    case "$verb:$place:$first" in',
            *(f"        {line}" for words in verbs for line in _bash_places(words)),
            "    esac",
            '    COMPREPLY=($(compgen -W "$words" -- "$word"))',
            "}",
            "complete -o default -F _holdfast holdfast",
        ]
    )


def _bash_value(verb: str, flag: Flag) -> str:
    patterns = "|".join(f"{verb}:{name}" for name in flag.spellings)
    return f"{patterns}) {_bash_reply(flag)}; return ;;"


def _bash_flags(flags: tuple[Flag, ...]) -> str:
    return f"$'{_lines([name for flag in flags for name in flag.spellings])}'"


def _bash_places(words: Words) -> Iterator[str]:
    """What stands at each place; what the first word decides comes first."""
    verb = words.verb
    for word, later in words.later.items():
        yield from _bash_place(f"{verb}:1:{word}", later)
    if words.later:
        yield f"{'|'.join(f'{verb}:[1-9]*:{word}' for word in words.later)}) ;;"
    for at, place in enumerate(words.places):
        there = f"[{at}-9]*" if place.is_last and at else at
        yield from _bash_place(f"{verb}:{there}:*", place)


def _bash_place(pattern: str, there: Place | Later) -> Iterator[str]:
    if there.takes_path:
        # Nothing offered: bash takes the names of files itself.
        yield f'{pattern}) [ "${{word#-}}" = "$word" ] && return ;;'
    elif there.choices:
        yield f"{pattern}) words=$'{_lines([*there.choices, ''])}'\"$words\" ;;"


def _bash_reply(flag: Flag) -> str:
    if flag.choices:
        return f"COMPREPLY=($(compgen -W $'{_lines(list(flag.choices))}' -- \"$word\"))"
    if flag.takes_path:
        return 'COMPREPLY=($(compgen -f -- "$word"))'
    return "COMPREPLY=()"


def _lines(words: list[str]) -> str:
    return "\\n".join(words)


def zsh(verbs: list[Words]) -> str:
    """For zsh, with its own completion system."""
    cases: list[str] = []
    for words in verbs:
        specs = [_zsh_flag(flag) for flag in words.flags]
        cases.append(f"    {words.verb}) _arguments {' '.join(specs)} {_zsh_alone(words)} ;;")
    listed = " ".join(f"'{words.verb}:{_zsh_text(words.summary)}'" for words in verbs)
    return "\n".join(
        [
            "#compdef holdfast",
            "# zsh completion for holdfast; load it with: source <(holdfast completion zsh)",
            "_holdfast() {",
            f"  local -a verbs=({listed})",
            "  if (( CURRENT == 2 )); then",
            "    _describe 'verb' verbs",
            "    return",
            "  fi",
            "  local verb=$words[2]",
            "  shift words",
            "  (( CURRENT-- ))",
            '  case "$verb" in',
            *cases,
            "  esac",
            "}",
            "compdef _holdfast holdfast",
        ]
    )


def _zsh_alone(words: Words) -> str:
    return " ".join(
        f"'{'*' if place.is_last else at}:argument:{_zsh_offered(place)}'"
        for at, place in enumerate(words.places, 1)
    )


def _zsh_offered(place: Place) -> str:
    return f"({' '.join(place.choices)})" if place.choices else "_files"


def _zsh_flag(flag: Flag) -> str:
    value = ""
    if flag.choices:
        value = f":value:({' '.join(flag.choices)})"
    elif flag.takes_value:
        value = ":path:_files" if flag.takes_path else ":value:"
    return " ".join(f"'*{name}[{_zsh_text(flag.help)}]{value}'" for name in flag.spellings)


def _zsh_text(text: str) -> str:
    for character in "\\[]:":
        text = text.replace(character, f"\\{character}")
    return text.replace("'", "'\\''")


def fish(verbs: list[Words]) -> str:
    """For fish."""
    lines = [
        "# fish completion for holdfast; load it with: holdfast completion fish | source",
        "complete -c holdfast -n __fish_use_subcommand -f",
    ]
    for words in verbs:
        shown = f"-a {words.verb} -d {_fish_text(words.summary)}"
        lines.append(f"complete -c holdfast -n __fish_use_subcommand {shown}")
        here = f"complete -c holdfast -n '__fish_seen_subcommand_from {words.verb}'"
        lines += [f"{here} {_fish_flag(flag)}" for flag in words.flags]
        lines += _fish_places(words)
    return "\n".join(lines)


def _fish_places(words: Words) -> Iterator[str]:
    here = f"__fish_seen_subcommand_from {words.verb}"
    if not words.later:
        choices = [word for place in words.places for word in place.choices]
        if choices:
            no_files = "" if any(place.takes_path for place in words.places) else "-f "
            yield f"complete -c holdfast -n '{here}' {no_files}-a {_fish_text(' '.join(choices))}"
        return
    first = words.places[0].choices
    begun = f"__fish_seen_subcommand_from {' '.join(first)}"
    offered = _fish_text(" ".join(first))
    yield f"complete -c holdfast -n '{here}; and not {begun}' -f -a {offered}"
    for word, later in words.later.items():
        if later.choices:
            after = f"{here}; and __fish_seen_subcommand_from {word}"
            offered = _fish_text(" ".join(later.choices))
            yield f"complete -c holdfast -n '{after}' -f -a {offered}"


def _fish_flag(flag: Flag) -> str:
    parts = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in flag.spellings]
    if flag.takes_value:
        parts.append("-r" if flag.takes_path else "-x")
    if flag.choices:
        parts.append(f"-a {_fish_text(' '.join(flag.choices))}")
    return " ".join([*parts, f"-d {_fish_text(flag.help)}"])


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS: dict[str, Callable[[list[Words]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
