"""The check of the store: where sessions are written down, and whether they can be."""

from collections.abc import Iterator, Mapping

from holdfast.app.configuration import ConfigurationError, load_configuration
from holdfast.app.ledger import NotUsable, is_signed_elsewhere, missed
from holdfast.app.settings import Settings, Surroundings
from holdfast.app.store import anchor_folder, check_key, store_health
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.journal import JournalError, JournalUnavailable
from holdfast.record.store import StoreHealth
from holdfast.surfaces.cli.amounts import counted
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
    around = surroundings_of_this_process(settings)
    try:
        found = store_health(settings, around)
    except JournalUnavailable as problem:
        yield _failed(_NAME, f"{kind}: {problem}")
    else:
        yield Finding("OK", _NAME, f"{kind}: {found.place} ({_tables(found)})")
        yield from check_sessions(settings, around)
    yield check_journal_key(settings, around)


def _tables(found: StoreHealth) -> str:
    if found.version is None:
        return "made when needed"
    if found.version < found.newest:
        return f"tables of version {found.version}, brought to {found.newest} when needed"
    return f"tables of version {found.version}"


def check_journal_key(settings: Settings, around: Surroundings) -> Finding:
    """Can what is written down be signed? Without its key nothing more is written."""
    name = "journal key"
    try:
        path, there = check_key(settings, around)
    except JournalUnavailable as problem:
        return _failed(name, str(problem))
    try:
        if settings.store.kind == "postgres" and is_signed_elsewhere(settings, around):
            step = f"put the {path.name} of the other machines in its place"
            return Finding("FAIL", name, f"{path} is not the one that signed what is kept", step)
    except NotUsable:
        step = f"put the {path.name} of the other machines there, before one is made"
        return Finding("FAIL", name, f"{path} is missing, and sessions are kept", step)
    except JournalError:
        pass  # the check of the store says what is wrong
    return Finding("OK", name, str(path) if there else f"{path} (made when needed)")


def check_sessions(settings: Settings, around: Surroundings) -> Iterator[Finding]:
    """Are sessions gone that were written down? What they hold is not looked at."""
    try:
        gone = missed(settings, around)
    except JournalError:
        return  # its tables are older, or verify says what is wrong
    if gone:
        told = counted(gone, "session")
        yield Finding(
            "WARN",
            "sessions",
            f"written down here, and not in the store any more: {told}",
            "see which: holdfast audit verify; put a copy of the store back, or, if they are meant"
            f" to be gone, move {anchor_folder(settings, around)} away",
        )


def _failed(name: str, problem: str) -> Finding:
    what, _, step = one_line(problem).rpartition("; ")
    return Finding("FAIL", name, what or step, step)
