"""`holdfast doctor`: is this machine ready, and if not, what to do next. It changes nothing."""

from argparse import Namespace, RawDescriptionHelpFormatter

from holdfast.surfaces.cli.builtin_checks import check_builtin_tools
from holdfast.surfaces.cli.checks import (
    check_configuration,
    check_data_directory,
    check_dependencies,
    check_python,
    check_state_directory,
    check_system,
    configured_confinement,
)
from holdfast.surfaces.cli.cluster_checks import check_cluster
from holdfast.surfaces.cli.looks import Finding
from holdfast.surfaces.cli.parsing import Parser, add_settings_options, overrides_in, workspace_in
from holdfast.surfaces.cli.sandbox_checks import check_sandbox
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.store_checks import check_store

_EXAMPLES = """\
examples:
  holdfast doctor                        what is wrong here, and what to do about it
  holdfast doctor --json                 the same, for programs
  holdfast doctor --workspace shop       with the configuration of that project
"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    add_settings_options(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    findings = [
        check_python(),
        check_system(),
        *check_dependencies(),
        *check_builtin_tools(),
        *check_configuration(workspace_in(arguments), overrides_in(arguments)),
        *check_data_directory(),
        *check_state_directory(),
        *check_store(workspace_in(arguments), overrides_in(arguments)),
        *check_cluster(workspace_in(arguments), overrides_in(arguments)),
        *check_sandbox(configured_confinement(workspace_in(arguments), overrides_in(arguments))),
    ]
    failed = any(found.status == "FAIL" for found in findings)
    if arguments.json:
        screen.document({"ok": not failed, "checks": [_plain(found) for found in findings]})
    else:
        screen.look.findings(findings)
    return 1 if failed else 0


def _plain(found: Finding) -> dict[str, str | None]:
    return {
        "status": found.status,
        "name": found.name,
        "detail": found.detail,
        "next_step": found.next_step or None,
    }
