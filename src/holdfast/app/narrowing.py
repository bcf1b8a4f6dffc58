"""What is taken from a project's file: only what narrows. Everything else is a notice.

A project's files come from whoever wrote the project. It judges tables that `keys` has checked; it
reads nothing.
"""

from collections.abc import Collection, Iterator
from typing import cast

import msgspec

from holdfast.app.keys import Table
from holdfast.app.settings import LimitSettings

_MOVE_IT = (
    "not taken from a project that is not trusted; run holdfast trust to let its files count,"
    " or put it into your own configuration file"
)

ONLY_SMALLER = "a project may only make limits smaller until you run holdfast trust"

Notice = str


class Narrowed(msgspec.Struct, frozen=True, kw_only=True):
    """What a project's file changes, and what it wanted to change and may not."""

    table: Table
    """Keys to merge."""
    at_most: Table
    """Per tool, what its limits may not exceed."""
    notices: tuple[Notice, ...]


def narrow(trusted: Table, project: Table, profiles: Collection[str], origin: str) -> Narrowed:
    """Keep of the project's table what narrows the trusted one."""
    notices: list[Notice] = []
    table: Table = {}
    at_most: Table = {}
    for name, value in project.items():
        wanted = cast("Table", value)
        if name == "limits":
            ours = cast("Table", trusted.get("limits", {}))
            table["limits"] = _smaller(ours, wanted, notices)
            at_most = _tools_at_most(ours, wanted, notices)
        elif name == "profile":
            ours = cast("Table", trusted.get("profile", {}))
            table["profile"] = _denying(ours, wanted, profiles, notices)
        else:
            notices += [f"{name}.{key}: {_MOVE_IT}" for key in wanted]
    found = tuple(f"{origin}: {notice}" for notice in notices)
    return Narrowed(table=table, at_most=at_most, notices=found)


def _smaller(ours: Table, wanted: Table, notices: list[Notice]) -> Table:
    defaults = msgspec.structs.asdict(LimitSettings())
    taken: Table = {}
    for key, value in wanted.items():
        if key == "tool":
            continue
        limit = cast("int", ours.get(key, defaults[key]))
        if cast("int", value) <= limit:
            taken[key] = value
        else:
            notices.append(_too_large(f"limits.{key}", value, limit))
    return taken


def _tools_at_most(ours: Table, wanted: Table, notices: list[Notice]) -> Table:
    at_most: Table = {}
    for tool, key, value in _entries(wanted.get("tool")):
        own = cast("Table", ours.get("tool", {})).get(tool, {})
        limit = cast("Table", own).get(key)
        if limit is None or cast("float", value) <= cast("float", limit):
            cast("Table", at_most.setdefault(tool, {}))[key] = value
        else:
            notices.append(_too_large(f"limits.tool.{tool}.{key}", value, limit))
    return at_most


def _denying(ours: Table, wanted: Table, profiles: Collection[str], notices: list[Notice]) -> Table:
    taken: Table = {}
    for profile, part, value in _entries(wanted):
        if part != "tools":
            notices.append(f"profile.{profile}.{part}: {_MOVE_IT}")
            continue
        for key, names in cast("Table", value).items():
            path = f"profile.{profile}.tools.{key}"
            if key != "deny":
                notices.append(f"{path}: {_MOVE_IT}; a project may only deny")
            elif profile not in profiles:
                notices.append(f"{path}: you have no profile {profile!r}; nothing to narrow")
            else:
                denied = _denied(ours, profile)
                more = [name for name in cast("list[str]", names) if name not in denied]
                taken[profile] = {"tools": {"deny": [*denied, *more]}}
    return taken


def _denied(ours: Table, profile: str) -> list[str]:
    here = cast("Table", cast("Table", ours.get(profile, {})).get("tools", {}))
    return list(cast("list[str]", here.get("deny", [])))


def _entries(tables: object) -> Iterator[tuple[str, str, object]]:
    """Every key of a table of tables, with the two names that lead to it."""
    for name, table in cast("dict[str, Table]", tables or {}).items():
        for key, value in table.items():
            yield name, key, value


def _too_large(path: str, value: object, limit: object) -> Notice:
    return f"{path} = {value}: larger than {limit}; {ONLY_SMALLER}"
