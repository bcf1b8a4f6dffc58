"""`holdfast serve`: the console in a browser, and the HTTP API.

It runs what is due, as `holdfast worker` does, and shows and answers every session of this home,
wherever it runs. Exit status: 0 it was told to end, 1 its store cannot be used, 2 it
could not begin otherwise.
"""

from argparse import Namespace, RawDescriptionHelpFormatter
from functools import partial
from importlib import import_module
from typing import Any

import anyio
from anyio import sleep_forever

from holdfast.app import fleet
from holdfast.app.environment import SERVE_TOKEN_VARIABLE
from holdfast.app.holdfast import Holdfast
from holdfast.app.options import Options
from holdfast.contract.call import Ask
from holdfast.contract.person import Inquiry, Replies
from holdfast.contract.ports import Answer
from holdfast.surfaces.cli.opening import Chosen, chosen
from holdfast.surfaces.cli.parsing import Parser, UsageError, add_tool_options
from holdfast.surfaces.cli.runners import runner_of
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.serving_words import LOOPBACK, address_in, token_from
from holdfast.surfaces.cli.stores import with_a_store
from holdfast.surfaces.cli.working import BROKEN, lone, worded

# Sibling surfaces are loaded by their names: none of them knows another.
_SERVER = "holdfast.surfaces.http.server"
_PAGES = "holdfast.surfaces.console.pages"
_PORT = "8321"
_EXAMPLES = f"""\
examples:
  holdfast serve                             the console at http://{LOOPBACK}:{_PORT}
  holdfast serve --port 0 --json             any free port, told as one line of JSON
  holdfast serve --profile code --workspace ~/project
  holdfast serve --token-file ~/.holdfast-token    the same token after every start
  holdfast serve --port 0.0.0.0:{_PORT} --expose box.example   for others; put TLS in front of it
  holdfast serve --cluster                   sessions of all machines of a cluster"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.epilog = _EXAMPLES
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.add_argument(
        "--port", metavar="[HOST:]PORT", default=_PORT, help=f"{LOOPBACK}:{_PORT} by default"
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help=f"what clients have to send; else {SERVE_TOKEN_VARIABLE}, else a new one is made",
    )
    parser.add_argument(
        "--expose",
        metavar="NAME",
        action="append",
        default=[],
        help="a host name that clients elsewhere use; needed for any HOST but this machine's own",
    )
    parser.add_argument(
        "--cluster",
        action="store_true",
        help="be one of the [cluster] of the configuration: the same as --set engine.kind=cluster",
    )
    parser.add_argument("--json", action="store_true", help="where it listens, as a line of JSON")
    add_tool_options(parser)


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    if arguments.cluster:
        arguments.overrides.append("engine.kind=cluster")
    host, port = address_in(arguments.port, "--port")
    token = token_from(arguments.token_file, SERVE_TOKEN_VARIABLE, screen.remark)
    try:
        server = import_module(_SERVER)
    except ImportError as problem:
        raise UsageError(
            f"serve needs a part ({problem}); run: pip install 'holdfast[serve]'"
        ) from None
    names = tuple(arguments.expose)
    if not server.is_loopback(host) and not names:
        raise UsageError(
            f"--port {arguments.port}: {host} can be reached from elsewhere; name who may come with"
            " --expose HOSTNAME, and put TLS in front of it"
        )
    listening = server.Listening(host=host, port=port, names=names, token=token)
    try:
        opened = chosen(arguments, screen)
        settings = with_a_store(opened.configuration.settings)
        if settings.engine.kind == "cluster":  # before anybody is told where it listens
            fleet.check_fleet(settings)
        anyio.run(partial(_served, server, opened, listening, arguments, screen))
    except BROKEN as problem:
        return worded(problem, screen, as_json=False)
    except ExceptionGroup as group:
        if not isinstance(problem := lone(group), BROKEN):
            raise
        return worded(problem, screen, as_json=False)
    except OSError as problem:
        reason = problem.strerror or problem
        raise UsageError(f"--port {arguments.port}: {reason}; choose another port") from None
    return 0


async def _served(
    server: Any,  # noqa: ANN401 - a module that is loaded by its name
    opened: Chosen,
    listening: object,
    arguments: Namespace,
    screen: Screen,
) -> None:
    def tell(told: Any) -> None:  # noqa: ANN401 - the same
        link = f"{told.address}/?token={told.token}" if told.made_up else told.address
        if arguments.json:
            document = {"kind": "listening", "address": told.address, "console": link}
            screen.json_line(document | ({"token": told.token} if told.made_up else {}))
        else:
            screen.raw(f"the console: {link}")
            if not told.made_up:
                screen.remark("it asks for the token that this was started with")
            screen.remark("what is due is run here; Ctrl-C ends it, and loses nothing")
        screen.show_now()

    parts = server.Opened(
        runner=runner_of(opened, arguments.workspace, arguments, screen),
        workbench=_workbench(opened, arguments.workspace),
        profile=opened.profile,
        workspace=arguments.workspace,
    )
    await server.serve(parts, listening, import_module(_PAGES).page, tell)


def _workbench(opened: Chosen, workspace: str) -> Holdfast:
    options = Options(**opened.sources)
    options["configuration"] = opened.configuration
    options["approver"], options["person"] = _somebody_answers, _somebody_replies
    options["server_patience"] = 0.0
    return Holdfast(tools=opened.tools, profile=opened.profile, workspace=workspace, **options)


async def _somebody_answers(_ask: Ask) -> Answer | None:
    """The question stands among the approvals: whoever answers it there is heard."""
    await sleep_forever()
    return None


async def _somebody_replies(_inquiry: Inquiry) -> Replies | None:
    await sleep_forever()
    return None
