"""What runs the sessions of agents that are due, each under the files of its own project."""

from argparse import Namespace
from pathlib import Path

from holdfast.app.holdfast import Holdfast
from holdfast.app.options import Options
from holdfast.app.problems import ConfigurationError, ToolFileError
from holdfast.surfaces.cli.opening import Chosen, chosen
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.screen import Screen


def runner_of(opened: Chosen, workspace: str, arguments: Namespace, screen: Screen) -> Holdfast:
    """One that runs the sessions of a project, and has others opened for those of others.

    Nobody is asked in it: questions stay open.
    """

    def of_another(place: Path) -> Holdfast:
        there = Namespace(**{**vars(arguments), "workspace": str(place)})
        try:
            return runner_of(chosen(there, screen), str(place), there, screen)
        except (UsageError, ToolFileError) as problem:
            raise ConfigurationError(str(problem)) from problem

    options = Options(**opened.sources)
    options["configuration"] = opened.configuration
    options["approver"] = options["person"] = options["application"] = "elsewhere"
    options["other_projects"] = of_another
    return Holdfast(tools=opened.tools, profile=opened.profile, workspace=workspace, **options)
