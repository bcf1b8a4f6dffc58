"""`holdfast plugin`: begin a plugin, check one, and list what installed packages announce.

Exit status of `check` and `list`: 0 nothing is wrong, 1 something is. Both load code: `list` that
of the plugins which the configuration names.
"""

import shlex
from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable
from pathlib import Path

import anyio

from holdfast.app import plugins
from holdfast.app.plugin_start import begin_plugin
from holdfast.app.spelling import advice
from holdfast.sources.plugins.loading import (
    Plugin,
    PluginProblem,
    announced,
    is_folder,
    load_plugin,
)
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.opening import configured
from holdfast.surfaces.cli.parsing import After, Parser, UsageError, add_settings_options
from holdfast.surfaces.cli.screen import Screen
from holdfast.testing.plugin_kit import check_plugin

_FAILED = 1
_EXAMPLES = """\
examples:
  holdfast plugin init my-plugin       a package with a tool and its test
  holdfast plugin check ./my-plugin    what is wrong with it
  holdfast plugin list                 what is announced, and what is loaded
"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument("what", metavar="WHAT", nargs="?", help=", ".join(_ANSWERS))
    parser.offer("what", _ANSWERS)
    parser.add_argument(
        "words", metavar="NAME | DIR", nargs="*", default=[], help="what it is about"
    )
    add_settings_options(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    for name, (takes, says) in _SAYS.items():
        if takes:
            options = frozenset({"json", "help"})
            parser.after[name] = After(options=options, takes_path=True, takes=takes, says=says)
        else:
            parser.after[name] = After(says=says)
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    what = arguments.what
    if what is None:
        raise UsageError(f"what about plugins? write: holdfast plugin {' | '.join(_ANSWERS)}")
    answer = _ANSWERS.get(what)
    if answer is None:
        raise UsageError(f"plugin does not know {what!r}; {advice(what, _ANSWERS)}")
    return answer(arguments, screen)


def _init(arguments: Namespace, screen: Screen) -> int:
    folder = Path(_one(arguments, "holdfast plugin init DIR"))
    name = folder.resolve().name.replace("-", "_").lower()
    made = [str(path) for path in begin_plugin(folder, name)]
    shown = f"{folder}/" if not is_folder(str(folder)) else str(folder)
    following = [
        f"holdfast plugin check {shlex.quote(shown)}",
        f"holdfast call greeting name=Ada --set 'plugins.load=[\"{folder.resolve()}\"]'",
    ]
    if arguments.json:
        screen.document({"made": made, "next": following})
        return 0
    screen.look.text(f"made {printable(', '.join(made))}")
    screen.look.text("next:")
    for command in following:
        screen.look.text(f"  {printable(command)}")
    return 0


def _check(arguments: Namespace, screen: Screen) -> int:
    named = _one(arguments, "holdfast plugin check NAME, or ./DIR")
    if not is_folder(named) and Path(named).is_dir() and named not in announced():
        named = f"{named}/"
    problems = anyio.run(check_plugin, named)
    if arguments.json:
        screen.document({"plugin": named, "problems": problems})
    elif problems:
        for problem in problems:
            screen.look.text(printable(problem))
    else:
        screen.look.text(f"{printable(named)}: nothing is wrong")
    return _FAILED if problems else 0


def _list(arguments: Namespace, screen: Screen) -> int:
    if arguments.words:
        raise UsageError(f"plugin list takes no {arguments.words[0]!r}")
    loaded = dict.fromkeys(configured(arguments, screen).settings.plugins.load)
    known = announced()
    broken = _faults(loaded)

    def row(name: str, origin: str) -> tuple[str, str, str]:
        return name, origin, "broken" if name in broken else "yes" if name in loaded else "no"

    rows = [row(name, origin) for name, origin in known.items()]
    rows += [
        row(name, "a folder" if is_folder(name) else "-") for name in loaded if name not in known
    ]
    if arguments.json:
        keys = ("name", "origin", "loaded")
        told = [dict(zip(keys, one, strict=True)) for one in rows]
        screen.document([{**one, "problem": broken.get(one["name"])} for one in told])
    elif rows:
        screen.look.table(("NAME", "FROM", "LOADED"), [tuple(map(printable, row)) for row in rows])
    else:
        screen.look.text("No installed package announces tools, and no folder is named.")
    for said in dict.fromkeys(broken.values()):
        screen.remark(said)
    return _FAILED if broken else 0


def _faults(names: Iterable[str]) -> dict[str, str]:
    """By plugin, why one that is named cannot be used."""
    found: dict[str, str] = {}
    loaded: list[Plugin] = []
    for name in names:
        try:
            loaded.append(load_plugin(name))
        except PluginProblem as problem:
            found[name] = str(problem)
    return {**found, **plugins.conflicts(loaded)}


def _one(arguments: Namespace, usage: str) -> str:
    if len(arguments.words) != 1:
        raise UsageError(f"which plugin? write: {usage}")
    return str(arguments.words[0])


_SAYS = {
    "init": ("DIR", "Write a package with a tool and its test; nothing is replaced."),
    "check": ("NAME | ./DIR", "Load a plugin and say what is wrong with it; exit status 1: it is."),
    "list": ("", "Show what installed packages announce and what you load; exit status 1: one of"
             " these cannot be loaded."),
}  # fmt: skip
_ANSWERS: dict[str, Callable[[Namespace, Screen], int]] = {
    "init": _init,
    "check": _check,
    "list": _list,
}
