"""`holdfast policy grants` and `revoke`: what was remembered for a project, and taking it back."""

from argparse import Namespace
from collections.abc import Sequence

from holdfast.app.configuration import Configuration
from holdfast.app.environment import variables
from holdfast.app.grants import GrantFile, grant_id
from holdfast.app.locations import state_home
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.rules import Rule
from holdfast.surfaces.cli.looks import printable
from holdfast.surfaces.cli.opening import configured
from holdfast.surfaces.cli.parsing import UsageError
from holdfast.surfaces.cli.screen import Screen


def grants_of(loaded: Configuration) -> GrantFile | None:
    """Where the answers for this project are kept; None where there is no project."""
    project = loaded.project
    if project is None:
        return None
    return GrantFile(state_home(variables()), project, loaded.workspace)


def list_grants(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    loaded = configured(arguments, screen)
    kept = grants_of(loaded)
    grants = () if kept is None else kept.load()
    if arguments.json:
        project = None if loaded.project is None else str(loaded.project)
        screen.document({"project": project, "grants": _plain_all(grants)})
    elif grants:
        headings = ("ID", "PERMISSION", "PATTERN", "ACTION", "WHEN", "BY")
        screen.look.table(headings, [_row(grant) for grant in grants])
    else:
        screen.look.text(f"Nothing is remembered for {printable(str(loaded.project))}.")
    return 0


def revoke(arguments: Namespace, screen: Screen) -> int:
    """Answer; returns the exit status."""
    ids = list(dict.fromkeys(arguments.words))
    if bool(ids) is arguments.all:
        raise UsageError(
            "which answers? write: holdfast policy revoke ID, or --all;"
            " holdfast policy grants lists them"
        )
    kept = grants_of(configured(arguments, screen))
    known = () if kept is None else kept.load()
    unknown = [one for one in ids if one not in {grant_id(grant) for grant in known}]
    if unknown:
        raise UsageError(
            f"nothing is remembered under {', '.join(map(repr, unknown))};"
            " holdfast policy grants lists what is; nothing was changed"
        )
    wanted = {grant_id(grant) for grant in known} if arguments.all else ids
    gone = () if kept is None or not wanted else _forgotten(kept, wanted)
    if arguments.json:
        screen.document({"revoked": _plain_all(gone)})
    else:
        for grant in gone:
            shown = printable(f"{grant.permission} {grant.pattern!r}")
            screen.raw(f"{grant_id(grant)} is forgotten: {shown} is not allowed by it any more")
        if not gone:
            screen.raw("Nothing was remembered.")
    return 0


def _forgotten(kept: GrantFile, ids: Sequence[str] | set[str]) -> tuple[Rule, ...]:
    try:
        return kept.forget(ids)
    except OSError as problem:
        raise UsageError(
            f"{kept.path}: it cannot be changed ({problem.strerror});"
            " nothing was forgotten; make it writable for you"
        ) from None


def _row(grant: Rule) -> tuple[str, ...]:
    at = "-" if grant.added_at is None else f"{grant.added_at:%Y-%m-%d %H:%M} UTC"
    by = grant.source.removeprefix("answer of ")
    cells = (grant_id(grant), grant.permission, grant.pattern, grant.action, at, by)
    return tuple(map(printable, cells))


def _plain_all(grants: Sequence[Rule]) -> list[JsonValue]:
    return [_plain(grant) for grant in grants]


def _plain(grant: Rule) -> JsonObject:
    return {
        "id": grant_id(grant),
        "permission": grant.permission,
        "capability": grant.capability,
        "pattern": grant.pattern,
        "action": grant.action,
        "at": None if grant.added_at is None else grant.added_at.isoformat(),
        "by": grant.source.removeprefix("answer of "),
    }
