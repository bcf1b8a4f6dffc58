"""`holdfast run`: give an agent a task, and watch it work.

Exit status: 0 done, 1 the work failed or came to a limit, 2 it could not begin, 3 a person refused
a call, 4 it waits for a person, 130 interrupted.
"""

from argparse import Namespace, RawDescriptionHelpFormatter

from holdfast.surfaces.cli.opening import chosen
from holdfast.surfaces.cli.parsing import Parser, UsageError
from holdfast.surfaces.cli.run_checks import check_agent, check_cost
from holdfast.surfaces.cli.run_options import (
    add_run_options,
    check_run_options,
    message_in,
    read_message,
    somebody_types,
)
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.stores import with_a_store
from holdfast.surfaces.cli.working import BROKEN, Task, done, worded

_EXAMPLES = """examples:
  holdfast run "Tidy up the tests."              what happens, line by line
  holdfast run --screen "Tidy up the tests."     on the whole screen; ? shows the keys
  holdfast run --set run.view=screen "..."       the same; put it into your config.toml for good
  holdfast run --no-screen "..."                 line by line, whatever that says"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument(
        "words",
        metavar="TASK",
        nargs="*",
        default=[],
        help="what is to be done; what is piped in comes behind it; - waits for it",
    )
    add_run_options(parser)
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    try:
        return done(_task(arguments, screen), screen)
    except BROKEN as problem:
        return worded(problem, screen, as_json=arguments.json)


def _task(arguments: Namespace, screen: Screen) -> Task:
    check_run_options(arguments)
    message = message_in(arguments.words, screen.remark)
    if message is None:
        if somebody_types():
            raise UsageError('say what is to be done; write: holdfast run "TASK"')
        message = read_message()
    opened = chosen(arguments, screen)
    settings = with_a_store(opened.configuration.settings)
    check_agent(settings, arguments.agent)
    check_cost(settings, arguments.agent, arguments.model, arguments.max_cost)
    return Task(
        arguments=arguments,
        chosen=opened,
        workspace=arguments.workspace,
        agent=arguments.agent,
        message=message,
    )
