"""Files that a configuration names: where they are, and whether trust in a project covers them.

It works on tables that `keys` has checked, and reads no file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple, cast

from holdfast.app.keys import Table
from holdfast.app.locations import PROJECT_FOLDER
from holdfast.app.problems import ConfigurationError
from holdfast.app.web import index_files


class _Named(NamedTuple):
    """One place of a table that names a file."""

    key: str
    """What it is called in an error."""
    inside: dict[str, object] | list[object]
    at: str | int
    may_be_a_command: bool = False
    """Without a slash it is no file, but a program that is found by its name."""
    covered: Literal["inside", "installed", "elsewhere"] = "inside"
    """What trust covers: what is in the folder; or what is installed and found by its name, too; or
    any file that is not the project's, too."""

    @property
    def name(self) -> str:
        return cast("str", cast("dict[str | int, object]", self.inside)[self.at])

    @property
    def is_file(self) -> bool:
        return not self.may_be_a_command or "/" in self.name

    @property
    def begins_elsewhere(self) -> bool:
        """Whether a variable of the environment says where it is."""
        return self.name.startswith("${") and self.covered == "elsewhere"

    def put(self, path: Path) -> None:
        cast("dict[str | int, object]", self.inside)[self.at] = str(path)


def resolve_files(table: Table, folder: Path, home: Path | None) -> None:
    """A file names other files relative to itself."""
    for named in _all(table):
        if named.is_file and not named.begins_elsewhere:
            named.put(folder / _without_tilde(named.name, home))


def refuse_files_outside(table: Table, folder: Path, origin: Path) -> None:
    """Trust is bound to what is in the folder: a file elsewhere could change unnoticed.

    ``origin``: the project's own file, whose copy in the folder is read in its place.
    """
    inside = folder.resolve()  # a person's home may itself be a link
    project = origin.parent.parent.resolve()
    for named in _all(table):
        if not _is_covered(named, inside, project):
            raise ConfigurationError(
                f"{origin}: {named.key}: {named.name} is not in the {PROJECT_FOLDER} folder, which"
                " is all that trust covers; move it there, or name it in your own configuration"
            )


def _is_covered(named: _Named, inside: Path, project: Path) -> bool:
    if not named.is_file and named.covered != "inside":
        return True
    path = Path(named.name)
    if not path.is_absolute():
        return False
    if path.resolve().is_relative_to(inside):
        return True
    # What leaves the copy by dots means a neighbour of the project, which is not where it leads.
    theirs = any(_lies_in(path, place) for place in (project, inside.parent))
    return named.covered == "elsewhere" and not theirs


def _lies_in(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder) or path.is_relative_to(folder)


def _all(table: Table) -> Iterator[_Named]:
    for part, key in (("tools", "files"), ("skills", "paths"), ("plugins", "load")):
        found = cast("dict[str, list[object]]", table.get(part, {})).get(key, [])
        for at in range(len(found)):
            named = _Named(f"{part}.{key}", found, at)
            is_plugin = part == "plugins"
            yield (
                named._replace(may_be_a_command=True, covered="installed") if is_plugin else named
            )
    watchdog = cast("dict[str, list[list[object]]]", table.get("watchdog", {}))
    for argv in filter(None, watchdog.get("commands", [])):
        yield _Named("watchdog.commands", argv, 0, may_be_a_command=True)
    for provider in index_files(table):
        yield _Named("web.search", provider, "file")
    for name, agent in cast("dict[str, Table]", table.get("agent", {})).items():
        folders = cast("list[object]", agent.get("skills", []))
        yield from (_Named(f"agent.{name}.skills", folders, at) for at in range(len(folders)))
    cluster = cast("Table", table.get("cluster", {}))
    files = ("credentials_file", "ca_file", "cert_file", "key_file", "workspaces_folder")
    yield from (_Named(f"cluster.{key}", cluster, key) for key in files if key in cluster)
    yield from _of_sources(table)


def _of_sources(table: Table) -> Iterator[_Named]:
    for name, model in cast("dict[str, Table]", table.get("model", {})).items():
        if "file" in model:
            named = _Named(f"model.{name}.file", model, "file")
            # Weights are large, and nothing that runs.
            yield named._replace(covered="elsewhere") if model["kind"] == "local" else named
    for name, manifest in cast("dict[str, Table]", table.get("manifest", {})).items():
        yield _Named(f"manifest.{name}.file", manifest, "file")
    for name, server in cast("dict[str, Table]", table.get("mcp", {})).items():
        whose = f"mcp.{name}"
        command = cast("list[object]", server.get("command", []))
        if command:
            program = _Named(f"{whose}.command", command, 0, may_be_a_command=True)
            yield program._replace(covered="elsewhere")
        for key in ("token_file", "cwd"):
            if key in server:
                yield _Named(f"{whose}.{key}", server, key, covered="elsewhere")


def _without_tilde(name: str, home: Path | None) -> Path:
    return home / name[2:] if name.startswith("~/") and home is not None else Path(name)
