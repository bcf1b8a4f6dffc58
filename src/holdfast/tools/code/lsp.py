"""`lsp`: what a language server knows of a place, a file or a name."""

from typing import Annotated, Literal

import msgspec

from holdfast.contract.builtin import builtin
from holdfast.contract.errors import InvalidArguments
from holdfast.contract.language_servers import (
    Diagnostic,
    Found,
    LanguageServers,
    Severity,
    Spot,
    Symbol,
)
from holdfast.contract.tool import Limits

Action = Literal["definition", "references", "hover", "diagnostics", "symbols"]
Position = Annotated[int, msgspec.Meta(ge=1)]


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One place, and what the server says of it."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str | None = None
    name: str | None = None
    kind: str | None = None
    container: str | None = None
    severity: Severity | None = None
    message: str | None = None
    code: str | None = None
    source: str | None = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the server answered."""

    action: Action
    count: int
    """How many there are, shown or not."""
    truncated: bool
    results: tuple[Finding, ...] = ()
    text: str | None = None
    """For hover."""


@builtin(
    requires={"fs": {"read": ["**"]}, "shell": [{"cmd": "*"}]},
    uses={"path": "fs.read"},
    read_only=True,
    effects=("resource_read", "sandbox_execute"),
    acp_kind="search",
    interrupt_behavior="cancel",
    parallel_safe=True,
    limits=Limits(wall_seconds=90.0),
)
def lsp(
    action: Action,
    language_servers: LanguageServers,
    path: str | None = None,
    line: Position | None = None,
    column: Position | None = None,
    query: str | None = None,
) -> Answer:
    """Ask a language server about source code: where a name is defined or used, what is wrong.

    Lines and columns count from 1, columns in characters; every result has a path and a position
    that can be used in the next call. definition, references and hover need path, line and column
    of a name; diagnostics needs path; symbols needs path (what a file defines) or query (names in
    the whole workspace). Example:
    {"action": "references", "path": "src/app.py", "line": 12, "column": 5}

    Args:
        action: What to ask for.
        path: The file, relative to the workspace or absolute.
        line: The line of the name in question, from 1.
        column: The column of any character of the name, from 1.
        query: For symbols: a name, or a part of one, to look for in the workspace.
    """
    if action == "symbols" and query:
        return _listed(action, _symbols(language_servers.workspace_symbols(query, path)))
    if path is None:
        raise InvalidArguments(_needs(action, "path"), field="path", expected="a file")
    if action == "symbols":
        return _listed(action, _symbols(language_servers.symbols(path)))
    if action == "diagnostics":
        return _listed(action, _diagnostics(language_servers.diagnostics(path)))
    if line is None:
        raise InvalidArguments(_needs(action, "line"), field="line", expected="1 or more")
    if column is None:
        raise InvalidArguments(_needs(action, "column"), field="column", expected="1 or more")
    if action == "hover":
        said = language_servers.hover(path, line, column)
        return Answer(action=action, count=int(said is not None), truncated=False, text=said)
    ask = language_servers.definition if action == "definition" else language_servers.references
    found = ask(path, line, column)
    return _listed(action, Found(tuple(map(_placed, found.items)), found.total))


def _needs(action: str, argument: str) -> str:
    also = " or query" if action == "symbols" else ""
    return f"{action} needs {argument}{also}."


def _listed(action: Action, found: Found[Finding]) -> Answer:
    cut = found.total > len(found.items)
    return Answer(action=action, count=found.total, truncated=cut, results=found.items)


def _placed(spot: Spot) -> Finding:
    return Finding(
        path=spot.path,
        line=spot.line,
        column=spot.column,
        end_line=spot.end_line,
        end_column=spot.end_column,
        text=spot.text,
    )


def _symbols(found: Found[Symbol]) -> Found[Finding]:
    items = tuple(
        msgspec.structs.replace(
            _placed(one.spot), name=one.name, kind=one.kind, container=one.container
        )
        for one in found.items
    )
    return Found(items, found.total)


def _diagnostics(found: Found[Diagnostic]) -> Found[Finding]:
    items = tuple(
        msgspec.structs.replace(
            _placed(one.spot),
            severity=one.severity,
            message=one.message,
            code=one.code,
            source=one.source,
        )
        for one in found.items
    )
    return Found(items, found.total)
