"""Reading the configuration: four layers of TOML, the later one wins, one validated value.

The layers are the person's own file, the project's file, `HOLDFAST_*` variables and what the
caller overrides. A project's file is a stranger's: only what narrows is taken from it, until the
person trusts the project. The rules beside both files are read here too.

A variable's name is the key's path in capitals, two underscores between its parts, so
`HOLDFAST_LIMITS__ARGUMENT_BYTES=1000` is `limits.argument_bytes = 1000`; names are read in small
letters. Its value is TOML, or else text.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import cast

import msgspec

from holdfast.app import server_words, telemetry, vault_places
from holdfast.app.agent_settings import check_cluster
from holdfast.app.environment import (
    DEBUG_VARIABLE,
    MCP_TOKEN_VARIABLE,
    SERVE_TOKEN_VARIABLE,
    variables,
)
from holdfast.app.keys import Table, check_keys
from holdfast.app.locations import (
    CONFIG_NAME,
    HOME_VARIABLE,
    PROJECT_FOLDER,
    home_of,
    project_file,
    state_home,
    user_file,
)
from holdfast.app.model_settings import check_models
from holdfast.app.named_files import refuse_files_outside, resolve_files
from holdfast.app.narrowing import Narrowed, Notice, narrow
from holdfast.app.own_files import check_home, refuse_shared
from holdfast.app.policy_files import POLICY_NAME, FoundRules, find_rules
from holdfast.app.problems import ConfigurationError
from holdfast.app.profiles import PROFILES, check_toolsets
from holdfast.app.requirement_tables import check_requirements
from holdfast.app.rule_sources import name_sources
from holdfast.app.server_files import SERVERS_NAME, FoundServers, find_servers
from holdfast.app.server_tables import names_a_server, notice_of
from holdfast.app.settings import Settings, ToolLimitSettings
from holdfast.app.toml_text import nested, parse_toml, path_in, read_text, value_in
from holdfast.app.trust import TrustFile
from holdfast.app.web import check_web

__all__ = ["Configuration", "ConfigurationError", "load_configuration", "load_settings"]

_PREFIX = "HOLDFAST_"
_NOT_SETTINGS = frozenset({HOME_VARIABLE, DEBUG_VARIABLE, MCP_TOKEN_VARIABLE, SERVE_TOKEN_VARIABLE})
_LEVELS = "__"
_RULES = "rules"
_HAVE_TO_BE_WHOLE = ("model", "lsp", "manifest", "vault")
"""Tables by name that lack something without some of their keys."""


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """The settings, where they come from, and what was not applied."""

    settings: Settings
    rules: FoundRules = FoundRules()
    project: Path | None = None
    """The root of the project; None where there is not even a working directory."""
    workspace: Path | None = None
    """Where targets are told from, without links; None like the project."""
    trusted: bool = False
    """Whether a person trusts the project's own files as they are now."""
    notices: tuple[Notice, ...] = ()
    """What everybody should know."""
    server_notices: Mapping[str, tuple[Notice, ...]] = {}
    """By MCP server, what is doubtful about how it is configured, or why it was left out: for those
    who are concerned with it."""
    files: tuple[Path, ...] = ()
    """The files that were read."""
    unread: tuple[Path, ...] = ()
    """Files of servers that cannot be read; a notice says why."""
    kept: Path | None = None
    """The copy of a trusted project's folder, which is read in its place."""

    def as_written(self, text: str) -> str:
        """A text about files of a trusted project that names them where a person can edit them."""
        if self.kept is None or self.project is None:
            return text
        return text.replace(str(self.kept), str(self.project / PROJECT_FOLDER))


def load_settings(
    workspace: str | Path | None,
    *,
    overrides: Mapping[str, str] = {},
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings alone; raises ConfigurationError."""
    return load_configuration(workspace, overrides=overrides, environment=environment).settings


def load_configuration(
    workspace: str | Path | None,
    *,
    overrides: Mapping[str, str] = {},
    environment: Mapping[str, str] | None = None,
) -> Configuration:
    """Read every layer and put them together; raises ConfigurationError."""
    told = variables() if environment is None else environment
    check_home(told)
    own_file = user_file(told)
    for path in (own_file, _beside(own_file), _beside(own_file, SERVERS_NAME)):
        refuse_shared(path)
    own = _file(own_file)
    servers = find_servers(_beside(own_file, SERVERS_NAME))
    settings = _together(servers.table, own or {})
    if own_file is not None:
        resolve_files(settings, own_file.parent, home_of(told))
    stranger = project_file(workspace)
    root = None if stranger is None else stranger.parent.parent
    kept = None if root is None else TrustFile(state_home(told)).kept(root.resolve())
    trusted = kept is not None
    theirs = _their_servers(stranger, kept, servers.file)
    is_own = _same(stranger, own_file)
    project = None if is_own else _file(stranger if kept is None else kept / CONFIG_NAME, stranger)
    wanted = _theirs(stranger, kept, _together(theirs.table, project or {}), told)
    amended = _together(settings, wanted if trusted else {})
    later = _later(amended, [*_from_variables(told), *_from_overrides(overrides)])
    homes = _homes((stranger, project), (own_file, own))

    if trusted:
        aside = _replaced(settings, wanted, str(stranger))
        _merge(settings, wanted)
        wanted = {}
    else:  # each file answers for what it says itself
        wanted = project or {}
        aside = narrow({}, theirs.table, (), str(theirs.file)).notices
    narrowed = _narrowed(settings, wanted, later, str(stranger))
    _merge(settings, narrowed.table)
    for layer in later:
        _merge(settings, layer)
        _lift(narrowed.at_most, layer)
    read = [(own_file, own), (stranger, project)]
    own_rules, their_rules = _beside(own_file), _beside(stranger)
    if _same(own_rules, their_rules):
        their_rules = None
    rules = find_rules(own_rules, their_rules, None if kept is None else kept / POLICY_NAME)
    files = [path for path, table in read if path is not None and table is not None]
    settled, left_out = _with_servers(_settings(settings, narrowed.at_most), homes)
    return Configuration(
        settings=settled,
        rules=rules,
        project=root,
        workspace=None if root is None else Path(workspace or "").resolve(),
        trusted=trusted,
        notices=(
            *servers.notices,
            *theirs.notices,
            *aside,
            *narrowed.notices,
            *rules.notices,
            *left_out,
            *(vault_places.missing_vaults(settled.vault, told) if settled.vault else ()),
        ),
        server_notices=_about(servers, theirs, trusted=trusted),
        files=(*files, *filter(None, (servers.file, theirs.file)), *rules.files),
        unread=tuple(filter(None, (servers.unread, theirs.unread))),
        kept=kept,
    )


def _beside(path: Path | None, name: str = POLICY_NAME) -> Path | None:
    return None if path is None else path.with_name(name)


def _their_servers(file: Path | None, kept: Path | None, own: Path | None) -> FoundServers:
    """The project's own file of servers; of one that is trusted the copy."""
    named = _beside(file, SERVERS_NAME)
    if _same(named, own):
        return FoundServers({})
    return find_servers(named) if kept is None else find_servers(kept / SERVERS_NAME, named)


def _about(
    own: FoundServers, theirs: FoundServers, *, trusted: bool
) -> dict[str, tuple[Notice, ...]]:
    """What is said of each server that counts here."""
    return {**own.about, **(theirs.about if trusted else {})}


def _together(first: Table, later: Table) -> Table:
    merged = deepcopy(first)
    _merge(merged, deepcopy(later))
    return merged


def _file(path: Path | None, copy_of: Path | None = None) -> Table | None:
    text = None if path is None else read_text(path, copy_of)
    if path is None or text is None:
        return None
    named = copy_of or path
    return _checked(parse_toml(text, named), str(named), text)


def _checked(layer: Table, origin: str, text: str = "", *, whole: Table | None = None) -> Table:
    """The layer, if nothing is wrong with it. ``whole``: what it is a part of, if it is one."""
    told = layer if whole is None else _completed(layer, whole)
    check_keys(told, origin)
    check_requirements(layer, origin)
    check_web(layer, origin)
    check_models(told, origin)
    check_toolsets(layer, origin)
    check_cluster(layer.get("cluster"), origin)
    if "telemetry" in layer:
        telemetry.check_table(layer, origin)
    name_sources(layer, origin, text)
    return layer


def _completed(layer: Table, whole: Table) -> Table:
    """The layer with all else that is said of what it speaks of: a key of a table amends it."""
    completed = dict(layer)
    for part in _HAVE_TO_BE_WHOLE:
        named, known = layer.get(part), whole.get(part)
        if isinstance(named, dict) and isinstance(known, dict):
            completed[part] = {name: known[name] for name in cast("Table", named)}
    return completed


def _theirs(file: Path | None, kept: Path | None, table: Table, told: Mapping[str, str]) -> Table:
    """The project's table; of one that is trusted all that it names is in the copy."""
    if kept is not None and file is not None:
        resolve_files(table, kept, None)
        refuse_files_outside(table, kept, file)
        if "mcp" in table:
            server_words.cover_words(table, kept, file, told)
    return table


def _replaced(settings: Table, wanted: Table, origin: str) -> tuple[Notice, ...]:
    """Let go of the person's servers and models that the project names, too.

    What is said of one is said by one: the person's headers and keys are not for the project's
    address.
    """
    notices: list[Notice] = []
    for part, what in (("mcp", "server"), ("model", "model")):
        ours = cast("Table", settings.get(part, {}))
        both = [name for name in cast("Table", wanted.get(part, {})) if name in ours]
        said = f"the {what} of this name that you configured yourself is not used here"
        for name in both:
            del ours[name]
            notices.append(f"{origin}: {part}.{name}: {said}")
    return tuple(notices)


def _same(one: Path | None, other: Path | None) -> bool:
    try:
        return one is not None and other is not None and one.samefile(other)
    except OSError:
        return False


def _later(below: Table, layers: Sequence[tuple[str, Table]]) -> list[Table]:
    """Layers of single keys, each checked as what it makes of the tables below it and beside it."""
    whole = below
    for _origin, layer in layers:
        whole = _together(whole, layer)
    return [_checked(layer, origin, whole=whole) for origin, layer in layers]


def _from_variables(environment: Mapping[str, str]) -> Iterator[tuple[str, Table]]:
    for name in sorted(environment):
        if not name.startswith(_PREFIX) or name in _NOT_SETTINGS:
            continue
        path = tuple(name.removeprefix(_PREFIX).lower().split(_LEVELS))
        yield f"environment variable {name}", nested(path, value_in(environment[name]))


def _from_overrides(overrides: Mapping[str, str]) -> Iterator[tuple[str, Table]]:
    for key, text in overrides.items():
        path = path_in(key)
        if path is None:
            raise ConfigurationError(
                f"override {key!r}: not a dotted key; write for example limits.argument_bytes"
            )
        yield f"override {key}", nested(path, value_in(text))


def _narrowed(trusted: Table, project: Table, later: list[Table], origin: str) -> Narrowed:
    named = [cast("Table", layer.get("profile", {})) for layer in (trusted, *later)]
    profiles = {*PROFILES, *(name for table in named for name in table)}
    return narrow(trusted, project, profiles, origin)


def _merge(into: Table, layer: Table) -> None:
    for key, value in layer.items():
        here = into.get(key)
        if isinstance(here, dict) and isinstance(value, dict):
            _merge(cast("Table", here), cast("Table", value))
        elif key == _RULES and isinstance(here, list) and isinstance(value, list):
            # Weighed together: a later layer must not take back what an earlier one forbids.
            into[key] = [*cast("list[object]", here), *cast("list[object]", value)]
        else:
            into[key] = value


def _homes(*read: tuple[Path | None, Table | None]) -> dict[str, Path]:
    """Which file has the table of an MCP server."""
    return {
        name: path
        for path, table in read
        if path is not None
        for name in cast("Table", (table or {}).get("mcp", {}))
    }


def _with_servers(
    settings: Settings, homes: Mapping[str, Path]
) -> tuple[Settings, tuple[Notice, ...]]:
    """Without tables that name no server: one of them must not stop everything else."""
    kept = {name: table for name, table in settings.mcp.items() if names_a_server(table)}
    notices = tuple(
        notice_of(name, str(homes.get(name, f"mcp.{name}")))
        for name in settings.mcp
        if name not in kept
    )
    return (msgspec.structs.replace(settings, mcp=kept), notices) if notices else (settings, ())


def _lift(at_most: Table, layer: Table) -> None:
    """What a trusted later layer says of a tool's limit outweighs the project."""
    limits = cast("Table", layer.get("limits", {}))
    for tool, chosen in cast("dict[str, Table]", limits.get("tool", {})).items():
        for key in chosen:
            cast("Table", at_most.get(tool, {})).pop(key, None)


def _settings(table: Table, at_most: Table) -> Settings:
    settings = msgspec.convert(table, Settings)
    if not at_most:
        return settings
    narrowed = msgspec.convert(at_most, dict[str, ToolLimitSettings])
    limits = msgspec.structs.replace(settings.limits, at_most=narrowed)
    return msgspec.structs.replace(settings, limits=limits)
