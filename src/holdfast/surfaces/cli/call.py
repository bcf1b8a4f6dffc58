"""`holdfast call`: settle one call as a model would make it, and print the envelope.

Exit status: 0 the call succeeded, 1 it failed, 3 it was refused by policy or by a person.
"""

import sys
from argparse import Namespace, RawDescriptionHelpFormatter

from holdfast.app.problems import ConfigurationError, MissingProgramError, ToolFileError
from holdfast.app.spelling import nearest
from holdfast.blocking import Holdfast
from holdfast.contract.builders import failure
from holdfast.contract.call import RawArguments
from holdfast.contract.envelope import Envelope, Metadata
from holdfast.contract.failure import FailureKind
from holdfast.contract.tool import ToolDefinitionError
from holdfast.envelope.render import TEXT_DIALECTS, render
from holdfast.policy.words import NOBODY_TO_ASK
from holdfast.surfaces.cli.asking import approver_here
from holdfast.surfaces.cli.inquiring import asker_here
from holdfast.surfaces.cli.opening import Chosen, chosen
from holdfast.surfaces.cli.pairs import arguments_from
from holdfast.surfaces.cli.parsing import Parser, UsageError, add_tool_options
from holdfast.surfaces.cli.progress import progress_here
from holdfast.surfaces.cli.screen import Screen, indented
from holdfast.surfaces.cli.stores import check_address
from holdfast.surfaces.cli.tool_names import name_here

_REFUSED = frozenset({FailureKind.REJECTED, FailureKind.USER_DENIED})
_EXAMPLES = """\
examples:
  holdfast call bash command="ls -l"                    one call, and its envelope
  holdfast call read path=README.md --pretty            indented, for people
  holdfast call bash --json '{"command": "ls"}'         all arguments as JSON
  echo '{"path": "a.txt"}' | holdfast call read --json -
  holdfast call add a:=1 b:=2 --from my_tools.py        a tool of your own; numbers as JSON
"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument("tool", metavar="TOOL", help="the tool to call")
    parser.add_argument(
        "pairs",
        metavar="key=value",
        nargs="*",
        default=[],  # or argparse says that they are required
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
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    sent = _sent(arguments)
    # The session ends with the call: what would hold as long as it is not offered.
    approver = approver_here(lasting=("once", "project"))
    try:
        opened = chosen(arguments, screen)
        check_address(opened.configuration.settings)
        with progress_here() as progress:
            holdfast = Holdfast(
                tools=opened.tools,
                profile=opened.profile,
                workspace=arguments.workspace,
                configuration=opened.configuration,
                approver=approver,
                person=asker_here(),
                progress=progress,
                keep_outputs=True,
                **opened.sources_of(arguments.tool),
            )
            envelope = _settled(holdfast, arguments.tool, sent, screen)
    except (ConfigurationError, ToolFileError, ToolDefinitionError) as problem:
        # Whoever reads the answer gets one of the usual shape; the error is worded beside it.
        _show(_unusable(problem, arguments.tool), arguments, screen)
        raise
    _show(envelope, arguments, screen)
    _remark(envelope, opened, [tool.name for tool in holdfast.tools], screen)
    if approver is None and envelope.failure and envelope.failure.message == NOBODY_TO_ASK:
        screen.remark(
            "nobody is there to be asked; holdfast policy explain with the same words says what is"
            " in question; a rule or a remembered answer can allow it, a command in doubt only"
            " policy.doubts; what always asks has to be confirmed at a terminal"
        )
    return _status(envelope)


def _unusable(problem: Exception, tool: str) -> Envelope:
    """What an operator has to put right first, as the answer to a call."""
    step = f"; {problem.step}" if isinstance(problem, MissingProgramError) else ""
    return failure(FailureKind.UNAVAILABLE, f"{problem}{step}", tool=tool, retryable=False)


def _settled(holdfast: Holdfast, tool: str, sent: RawArguments, screen: Screen) -> Envelope:
    try:
        with holdfast:
            envelope = holdfast.settle(name_here(tool, holdfast.tools, holdfast.servers), sent)
            if any(one.state == "running" and one.call_id for one in holdfast.commands()):
                screen.remark(
                    "what the call left running ends with it, and with it its log: a session lives"
                    " as long as this command; keep one open in a program"
                )
            return envelope
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as escaped:  # noqa: BLE001 - a tool raised what only programs may end with
        # Its text is not shown: it has passed neither redaction nor the output bound.
        return failure(
            FailureKind.EXECUTION_ERROR,
            f"Tool '{tool}' raised {type(escaped).__name__}, which is not an Exception.",
            tool=tool,
        )


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


def _remark(envelope: Envelope, opened: Chosen, names: list[str], screen: Screen) -> None:
    """Say beside the envelope what only a person should know."""
    problem = envelope.failure
    if problem is not None and problem.kind is FailureKind.TOOL_NOT_FOUND:
        screen.remark(_not_there(envelope.tool or "", opened, names))
    if envelope.metadata.truncated:
        screen.remark(_kept(envelope.metadata))


def _kept(metadata: Metadata) -> str:
    """What became of an output that is not shown whole."""
    lost = metadata.dropped_bytes
    where = metadata.output_path
    if where is None:
        return (
            f"{lost or 0:,} bytes of the output are lost: the whole could not be kept;"
            " holdfast doctor says whether the data directory can be written"
        )
    if lost:
        return (
            f"the output is kept in {where} without its last {lost:,} bytes;"
            " a larger limits.sidecar_call_bytes keeps more"
        )
    return f"the whole output is kept in {where}; remove it when done"


def _not_there(wanted: str, opened: Chosen, names: list[str]) -> str:
    if opened.hides(wanted):
        return f"the profile {opened.profile!r} hides the tool {wanted!r}; {opened.other_profile}"
    if (elsewhere := opened.elsewhere(wanted)) is not None:
        return elsewhere
    near = nearest(wanted, names)
    hint = f"did you mean {near!r}?" if near else "holdfast tools lists what there is"
    return f"there is no tool {wanted!r}; {hint}"


def _status(envelope: Envelope) -> int:
    problem = envelope.failure
    if problem is None:
        return 0
    return 3 if problem.kind in _REFUSED else 1
