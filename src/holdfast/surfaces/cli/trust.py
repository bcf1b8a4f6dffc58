"""`holdfast trust`: let a project's own files count, at exactly the content they have now."""

import sys
from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from holdfast.app import project_folder
from holdfast.app.commented_json import read_json
from holdfast.app.environment import variables
from holdfast.app.keys import Table
from holdfast.app.locations import (
    CONFIG_NAME,
    HOME_VARIABLE,
    PROJECT_FOLDER,
    project_root,
    state_home,
)
from holdfast.app.own_files import check_home
from holdfast.app.policy_files import POLICY_NAME
from holdfast.app.server_files import SERVERS_NAME
from holdfast.app.skill_places import PLACES
from holdfast.app.toml_text import decode_text, parse_toml
from holdfast.app.trust import TrustFile
from holdfast.policy.rule_file import read_rule_file
from holdfast.sources.mcp.reading import read_servers
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.parsing import Parser, UsageError
from holdfast.surfaces.cli.screen import Screen

_REFUSED = 3
_EXAMPLES = """\
examples:
  holdfast trust                       show what a project would do here, and ask
  holdfast trust ~/code/shop --yes     do not ask; for scripts
  holdfast trust --list                the projects you trust
  holdfast trust --revoke              trust this one no longer
"""


def add_arguments(parser: Parser) -> None:
    """Declare the words it takes."""
    parser.add_argument("folder", metavar="DIR", nargs="?", default=".", help="here by default")
    parser.add_argument("--yes", action="store_true", help="do not ask; for scripts")
    parser.add_argument("--revoke", action="store_true", help="trust it no longer")
    parser.add_argument("--list", action="store_true", help="show the projects you trust")
    parser.add_argument("--json", action="store_true", help="one JSON document, for programs")
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES


def run(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    if arguments.yes + arguments.revoke + arguments.list > 1:
        raise UsageError("give one of --yes, --revoke and --list; nothing was changed")
    check_home(variables())
    trusted = TrustFile(state_home(variables()))
    if arguments.list:
        return _list(trusted, screen, as_json=arguments.json)
    if not Path(arguments.folder).is_dir():
        raise UsageError(f"{arguments.folder}: there is no such directory; check the path")
    project = project_root(Path(arguments.folder).resolve())
    if arguments.revoke:
        with _written(trusted):
            was = trusted.forget(project)
        return _answer(screen, arguments, project, "revoked" if was else "not_trusted", 0)
    seen = project_folder.read_project(project)
    if seen is None:
        skills = any((project / place).is_dir() for place in PLACES)
        state = "skills_alone" if skills else "nothing_to_trust"
        return _answer(screen, arguments, project, state, 0)
    if trusted.trusts(project):
        return _answer(screen, arguments, project, "trusted", 0)
    if not arguments.yes and not _agreed(project, seen, screen):
        return _answer(screen, arguments, project, "not_trusted", _REFUSED)
    # What was shown is what is trusted, even if it has changed meanwhile.
    with _written(trusted):
        trusted.trust(project, seen)
    return _answer(screen, arguments, project, "trusted", 0)


@contextmanager
def _written(trusted: TrustFile) -> Generator[None]:
    try:
        yield
    except OSError as problem:
        raise UsageError(
            f"{trusted.path}: it cannot be written ({problem.strerror}); nothing was changed;"
            f" make {trusted.path.parent} writable for you, or set {HOME_VARIABLE}"
        ) from None


_SAID = {
    "trusted": "{} is trusted as it is now; a change asks again",
    "not_trusted": "{} is not trusted; its files can only narrow",
    "revoked": "{} is not trusted any more",
    "nothing_to_trust": "{} has no .holdfast folder; there is nothing to trust",
    "skills_alone": (
        "{} has skills and no .holdfast folder, to which trust is bound; to have its skills"
        " offered, set skills.project = 'always' in your own configuration"
    ),
}


def _answer(screen: Screen, arguments: Namespace, project: Path, state: str, status: int) -> int:
    if arguments.json:
        screen.document({"project": str(project), "state": state})
    else:
        screen.raw(_SAID[state].format(project))
    return status


def _agreed(project: Path, seen: "project_folder.ProjectFolder", screen: Screen) -> bool:
    """Show what would count, and ask. Without a terminal nobody agrees."""
    if sys.stdin is None or not sys.stdin.isatty():
        screen.remark("nobody is there to agree; give --yes if you have read the files")
        return False
    folder = project / PROJECT_FOLDER
    for one in seen.files:
        screen.remark(f"it would count: {printable(str(folder / one.name))}")
    for said in _what_it_says(folder, seen):
        screen.remark(printable(said))
    sys.stderr.write("Trust these files as they are now? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _what_it_says(folder: Path, seen: "project_folder.ProjectFolder") -> Iterator[str]:
    """What would happen that does not happen now."""
    rules = seen.content(POLICY_NAME)
    if rules is not None:
        yield from _allowed(decode_text(rules, folder / POLICY_NAME))
    servers = seen.content(SERVERS_NAME)
    if servers is not None:
        yield from _connected(servers, folder / SERVERS_NAME)
    config = seen.content(CONFIG_NAME)
    if config is not None:
        path = folder / CONFIG_NAME
        yield from _taken(parse_toml(decode_text(config, path), path), path)


def _allowed(rules: str) -> Iterator[str]:
    for rule in read_rule_file(rules, name=POLICY_NAME, scope="project").rules:
        if rule.action == "allow":
            yield f"it would allow: {rule.permission} {rule.pattern!r}"


def _connected(servers: bytes, path: Path) -> Iterator[str]:
    try:
        read = read_servers(read_json(decode_text(servers, path))[0])
    except ValueError:
        yield f"it would not be read: {path} is no JSON"
        return
    for setup in read.setups:
        what = " ".join(setup.argv) or setup.url
        yield f"it would start or reach: {what} (MCP server {setup.name})"


def _taken(settings: Table, path: Path) -> Iterator[str]:
    tools = cast("Table", settings.get("tools", {}))
    plugins = cast("Table", settings.get("plugins", {}))
    for name in (
        *cast("list[str]", tools.get("files", [])),
        *cast("list[str]", plugins.get("load", [])),
    ):
        yield f"it would load and run: {name}"
    for name, manifest in cast("dict[str, Table]", settings.get("manifest", {})).items():
        yield f"it would run the programs of: {manifest.get('file')} (manifest {name})"
    for name, server in cast("dict[str, Table]", settings.get("mcp", {})).items():
        command = " ".join(cast("list[str]", server.get("command", [])))
        yield f"it would start or reach: {command or server.get('url')} (MCP server {name})"
    for table in settings:
        if table not in {"tools", "plugins", "manifest", "mcp"}:
            yield f"it would take: [{table}] of {path}"


def _list(trusted: TrustFile, screen: Screen, *, as_json: bool) -> int:
    known = sorted(trusted.load().items())
    current = {path: _state(trusted, Path(path)) for path, _ in known}
    if as_json:
        screen.document(
            [{"project": path, "at": one.at, "state": current[path]} for path, one in known]
        )
    elif known:
        rows = [(path, one.at.date().isoformat(), current[path]) for path, one in known]
        screen.look.table(("PROJECT", "SINCE", "STATE"), rows)
    else:
        screen.look.text("You trust no project.")
    return 0


def _state(trusted: TrustFile, project: Path) -> str:
    return "trusted" if trusted.trusts(project) else "changed since"
