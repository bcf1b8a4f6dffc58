"""The check of the store: where sessions are written down, and whether they can be."""

from collections.abc import Iterator, Mapping

from holdfast.app.configuration import ConfigurationError, load_configuration
from holdfast.app.store import store_health
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.journal import JournalUnavailable
from holdfast.surfaces.cli.looks import Finding
from holdfast.surfaces.cli.screen import one_line

_NAME = "store"


def check_store(workspace: str, overrides: Mapping[str, str]) -> Iterator[Finding]:
    """Can sessions be written down? What cannot be read of the configuration is told elsewhere."""
    try:
        settings = load_configuration(workspace, overrides=overrides).settings
    except ConfigurationError:
        return
    kind = settings.store.kind
    if settings.store.url and kind != "postgres":
        step = "set store.kind = 'postgres', or take the URL away"
        yield Finding("WARN", _NAME, f"store.url is given, but store.kind is {kind}", step)
    if kind == "none":
        yield Finding("OK", _NAME, "none: nothing is written down")
        return
    try:
        found = store_health(settings, surroundings_of_this_process(settings))
    except JournalUnavailable as problem:
        what, _, step = one_line(str(problem)).rpartition("; ")
        yield Finding("FAIL", _NAME, f"{kind}: {what or step}", step)
        return
    if found.version is None:
        tables = "made when needed"
    elif found.version < found.newest:
        tables = f"tables of version {found.version}, brought to {found.newest} when needed"
    else:
        tables = f"tables of version {found.version}"
    yield Finding("OK", _NAME, f"{kind}: {found.place} ({tables})")
