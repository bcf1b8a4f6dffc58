"""`holdfast call`: settle one call as a model would make it, and print the envelope.

Exit status: 0 the call succeeded, 1 it failed, 3 it was refused by policy or by a person.
"""

import sys
from argparse import Namespace

from holdfast.app.spelling import nearest
from holdfast.blocking import Holdfast
from holdfast.contract.call import RawArguments
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.envelope.render import TEXT_DIALECTS, render
from holdfast.surfaces.cli.asking import approver_here
from holdfast.surfaces.cli.opening import chosen
from holdfast.surfaces.cli.pairs import arguments_from
from holdfast.surfaces.cli.parsing import Parser, UsageError, add_tool_options
from holdfast.surfaces.cli.screen import Screen, indented

_REFUSED = frozenset({FailureKind.REJECTED, FailureKind.USER_DENIED})


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument("tool", metavar="TOOL", help="the tool to call")
    parser.add_argument(
        "pairs",
        metavar="key=value",
        nargs="*",
        help="arguments; a value is sent as text and repaired, key:=JSON is sent as it is",
    )
    parser.add_argument(
        "--json", metavar="JSON", help="all arguments as one JSON object; - reads them from stdin"
    )
    add_tool_options(parser)
    parser.add_argument(
        "--dialect", choices=TEXT_DIALECTS, default="ok", help="how the envelope is written"
    )
    parser.add_argument("--pretty", action="store_true", help="indent the envelope")


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    sent = _sent(arguments)
    opened = chosen(arguments, screen)
    holdfast = Holdfast(
        tools=opened.tools,
        profile=opened.profile,
        workspace=arguments.workspace,
        settings=opened.settings,
        approver=approver_here(),
        keep_outputs=True,
    )
    with holdfast:
        envelope = holdfast.settle(arguments.tool, sent)
    _show(envelope, arguments, screen)
    _remark(envelope, [tool.name for tool in holdfast.tools], screen)
    return _status(envelope)


def _sent(arguments: Namespace) -> RawArguments:
    if arguments.json is None:
        return arguments_from(arguments.pairs)
    if arguments.pairs:
        raise UsageError("arguments are given twice; use either key=value or --json")
    if arguments.json != "-":
        return str(arguments.json)
    # Closed before we started: there is no standard input at all.
    return b"" if sys.stdin is None else sys.stdin.buffer.read()


def _show(envelope: Envelope, arguments: Namespace, screen: Screen) -> None:
    written = render(envelope, arguments.dialect)
    if not arguments.pretty:
        screen.raw(written)
        return
    try:
        spread = indented(written.encode())
    except ValueError:
        screen.raw(written)  # some dialects write plain text
    else:
        screen.look.json(spread)


def _remark(envelope: Envelope, names: list[str], screen: Screen) -> None:
    """Say beside the envelope what only a person should know."""
    failure = envelope.failure
    if failure is not None and failure.kind is FailureKind.TOOL_NOT_FOUND:
        wanted = envelope.tool or ""
        near = nearest(wanted, names)
        hint = f"did you mean {near!r}?" if near else "holdfast tools lists what there is"
        screen.remark(f"there is no tool {wanted!r}; {hint}")
    if envelope.metadata.output_path is not None:
        screen.remark(
            f"the whole output is kept in {envelope.metadata.output_path}; remove it when done"
        )


def _status(envelope: Envelope) -> int:
    failure = envelope.failure
    if failure is None:
        return 0
    return 3 if failure.kind in _REFUSED else 1
