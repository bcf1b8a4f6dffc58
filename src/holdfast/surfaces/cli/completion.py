"""`holdfast completion`: a completion script for a shell, written from the parsers themselves."""

from argparse import Action, Namespace
from collections.abc import Callable
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


class Words(NamedTuple):
    """What can follow a verb."""

    verb: str
    summary: str
    flags: tuple[Flag, ...]
    choices: tuple[str, ...]
    """Words that can stand alone."""
    files_follow: bool
    """Whether the words come first and the names of files after them."""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument("shell", choices=tuple(SCRIPTS), help="which shell")


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    verbs = [_words(verb.name, verb.summary, parser) for verb, parser in parsers()]
    screen.raw(SCRIPTS[arguments.shell](verbs))
    return 0


def _words(name: str, summary: str, parser: Parser) -> Words:
    alone = [action for action in parser.declared if not action.option_strings]
    return Words(
        name,
        summary,
        flags=tuple(_flag(action, parser) for action in parser.declared if action.option_strings),
        choices=tuple(word for action in alone for word in parser.offered(action)),
        files_follow=any(_is_path(action) for action in alone),
    )


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
    values: list[str] = []
    alone: list[str] = []
    for words in verbs:
        for flag in words.flags:
            if flag.takes_value:
                patterns = "|".join(f"{words.verb}:{name}" for name in flag.spellings)
                values.append(f"        {patterns}) {_bash_reply(flag)}; return ;;")
        offered = [*words.choices, *(name for flag in words.flags for name in flag.spellings)]
        alone.append(f"        {words.verb}) words=$'{_lines(offered)}' ;;")
        if words.files_follow:
            # Nothing offered: bash takes the names of files itself.
            after = '[ "$COMP_CWORD" -gt 2 ] && [ "${word#-}" = "$word" ]'
            alone[-1] = alone[-1].replace(") ", f") {after} && return; ", 1)
    first = _lines([*(words.verb for words in verbs), "--help", "--version"])
    return "\n".join(
        [
            "# bash completion for holdfast; load it with: source <(holdfast completion bash)",
            "_holdfast() {",
            "    local IFS=$'\\n' words=",
            '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
            "    COMPREPLY=()",
            '    if [ "$COMP_CWORD" -eq 1 ]; then',
            f"        COMPREPLY=($(compgen -W $'{first}' -- \"$word\"))",
            "        return",
            "    fi",
            '    case "${COMP_WORDS[1]}:$before" in',
            *values,
            "    esac",
            '    case "${COMP_WORDS[1]}" in',
            *alone,
            "    esac",
            '    COMPREPLY=($(compgen -W "$words" -- "$word"))',
            "}",
            "complete -o default -F _holdfast holdfast",
        ]
    )


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
    offered = f"({' '.join(words.choices)})" if words.choices else "_files"
    if words.files_follow:
        return f"'1:argument:{offered}' '*:file:_files'"
    return f"'*:argument:{offered}'"


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
        if words.choices:
            no_files = "" if words.files_follow else "-f "
            lines.append(f"{here} {no_files}-a {_fish_text(' '.join(words.choices))}")
    return "\n".join(lines)


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
