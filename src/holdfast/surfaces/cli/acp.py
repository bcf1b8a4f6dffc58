"""`holdfast acp`: an agent for editors that speak the Agent Client Protocol.

Exit status: 0 the editor ended it, 2 it was not understood.
"""

import copy
import os
from argparse import Namespace, RawDescriptionHelpFormatter
from fcntl import F_DUPFD_CLOEXEC, fcntl
from functools import partial
from importlib import import_module

import anyio

from holdfast.app.agent_work import Work
from holdfast.app.options import Options
from holdfast.app.problems import ConfigurationError
from holdfast.contract.journal import Session
from holdfast.surfaces.cli.opening import chosen
from holdfast.surfaces.cli.parsing import Parser, UsageError, add_tool_options, workspace_in
from holdfast.surfaces.cli.run_checks import check_agent, check_cost
from holdfast.surfaces.cli.runnable import agent_of
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.stores import with_a_store

# A sibling surface is loaded by its name: neither knows the other.
_STDIO = "holdfast.surfaces.acp.stdio"
_FREE = 3
_EXAMPLES = """\
examples:
  holdfast acp                                       for an editor to start; see docs/acp.md
  holdfast acp --model anthropic:claude-sonnet-4-5   with this model
  holdfast acp --agent reviewer                      as this agent of the configuration
  holdfast acp --profile readonly                    sessions begin in this mode
"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    add_tool_options(parser)
    parser.add_argument(
        "--model", metavar="NAME", help="a configured model, or kind:model; the agent's by default"
    )
    parser.set_defaults(workspace=None)
    for action in parser.declared:
        if action.dest == "workspace":
            action.help = "where every session works; the folder that the editor names by default"
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    try:
        serve = import_module(_STDIO).serve
    except ImportError as problem:
        raise UsageError(
            f"acp needs a part ({problem}); run: pip install 'holdfast[acp]'"
        ) from None
    if arguments.workspace is not None:
        workspace_in(arguments)
    prepare = partial(prepared, arguments, screen)
    prepare(".", None, None)  # what is wrong is said before an editor waits for an answer
    if os.isatty(0):
        screen.remark("an editor starts this and speaks with it; see docs/acp.md; Ctrl-C ends it")
    anyio.run(serve, prepare, _taken_input(), screen.descriptor, screen.remark)
    return 0


def prepared(
    arguments: Namespace, screen: Screen, cwd: str, begun: Session | None, profile: str | None
) -> tuple[Work, Options]:
    """What a session is opened with; ConfigurationError. ``begun``: go on with this one, as it was
    begun; ``profile``: under this one instead."""
    own = copy.copy(arguments)
    state = None if begun is None else begun.state
    own.workspace = (state and state.workspace) or arguments.workspace or cwd
    own.profile = profile or (state and state.profile) or arguments.profile
    own.model = arguments.model or (state and state.model)
    try:
        opened = chosen(own, screen)
        settings = with_a_store(opened.configuration.settings)
    except UsageError as problem:
        raise ConfigurationError(str(problem)) from None
    agent = arguments.agent if begun is None else agent_of(begun, settings)
    check_agent(settings, agent)
    check_cost(settings, agent, own.model, None)
    work = Work(
        tools=opened.tools,
        profile=opened.profile,
        workspace=own.workspace,
        agent=agent,
        model=own.model,
        session=None if begun is None else begun.id,
    )
    options = Options(configuration=opened.configuration)
    if manifests := opened.sources.get("manifests"):
        options["manifests"] = manifests
    if timeouts := opened.sources.get("timeouts"):
        options["timeouts"] = timeouts
    return work, options


def _taken_input() -> int:
    """Standard input for the protocol alone: what tools read there is empty."""
    try:
        ours = fcntl(0, F_DUPFD_CLOEXEC, _FREE)
    except OSError:
        raise UsageError("standard input is closed; have an editor start it") from None
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    return ours
