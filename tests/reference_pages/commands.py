"""docs/reference/commands.md: every verb with its options, from the parsers."""

from argparse import Action

from holdfast.surfaces.cli.catalogue import parsers
from holdfast.surfaces.cli.parsing import Parser
from holdfast.surfaces.cli.verbs import Verb
from reference_pages.shapes import table

_EXIT = """\
| exit code | meaning |
|---|---|
| 0 | done |
| 1 | it failed: the call, a check, an example, the model; a limit came; you did not agree |
| 2 | the command line, the configuration, a model or a tool file cannot be used |
| 3 | refused by policy or a person; `policy explain`: it would be; `trust`: you did not agree |
| 4 | `run`, `resume`, `sessions watch`: the session waits for a person |
| 130, 141 | interrupted; whoever read the output left |
"""


def page() -> str:
    """The whole page."""
    every = list(parsers())
    lines = [
        "# Every command",
        "",
        "`holdfast VERB --help` says the same. To begin with: [start](../start.md).",
        "",
        _EXIT,
        "The arguments of `call` are `key=value` words, sent as text and repaired; `key:=JSON` is",
        "sent as that JSON. What policy leaves open is asked on the terminal. Where standard input",
        "or standard error is no terminal nobody is asked: the call is `rejected`.",
        "",
        *table(
            ("verb", "what it does"),
            ((f"[`{verb.name}`](#holdfast-{verb.name})", verb.summary) for verb, _ in every),
        ),
    ]
    for verb, parser in every:
        lines += _verb(verb, parser)
    return "\n".join(lines)


def _verb(verb: Verb, parser: Parser) -> list[str]:
    lines = [f"## `holdfast {verb.name}`", "", f"{_sentence(verb.summary)}", ""]
    if parser.after and any(after.says for after in parser.after.values()):
        rows = [
            (f"`{' '.join(filter(None, (verb.name, word, after.takes)))}`", after.says)
            for word, after in parser.after.items()
            if after.says
        ]
        lines += table(("command", "what it does"), rows)
    words = [one for one in parser.declared if not one.option_strings]
    options = [one for one in parser.declared if one.option_strings and one.dest != "help"]
    rows = [(_spelled(one), _says(one)) for one in (*words, *options)]
    if rows:
        lines += table(("words and options", "meaning"), rows)
    if parser.epilog:
        examples = parser.epilog.replace("examples:\n", "").rstrip("\n")
        lines += [
            "```text",
            *(line.removeprefix("  ") for line in examples.splitlines()),
            "```",
            "",
        ]
    ends = parser.exits.of(None)
    if set(ends) - {0, 2}:
        lines += table(("exit code", "meaning"), ((str(one), ends[one]) for one in ends))
    return lines


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."


def _spelled(action: Action) -> str:
    """As it is written: its spellings and what stands behind them."""
    value = "" if action.nargs == 0 else _metavar(action)
    if not action.option_strings:
        return f"`{value}`"
    return ", ".join(f"`{one} {value}`".replace(" `", "`") for one in action.option_strings)


def _metavar(action: Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices is not None:
        return "|".join(str(one) for one in action.choices)
    return action.dest.upper()


def _says(action: Action) -> str:
    return action.help or ""
