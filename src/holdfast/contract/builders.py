"""Envelopes made by hand, for tool authors who want to say more than a return value does."""

from collections.abc import Iterable, Mapping
from typing import TypedDict, Unpack

from holdfast.contract.envelope import RESERVED_KEYS, Envelope, envelope_of
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonValue, clean_text, plain
from holdfast.contract.results import Entry, FileText, Listing, SearchResult

TRUNCATED_LISTING = (
    "This listing is truncated: it shows only part of what is there. Search by name for what you"
    " need, and do not conclude that something is absent."
)


def success(
    result: object = None, *, tool: str | None = None, warnings: Iterable[str] = ()
) -> Envelope:
    """Answer with any value."""
    return envelope_of(result, tool=tool, warnings=tuple(warnings))


def text(text: str, *, tool: str | None = None, warnings: Iterable[str] = ()) -> Envelope:
    """Answer with one text meant to be read."""
    return success({"text": text}, tool=tool, warnings=warnings)


def listing(
    path: str,
    entries: Iterable[Entry | Mapping[str, str]],
    *,
    truncated: bool = False,
    tool: str | None = None,
    warnings: Iterable[str] = (),
) -> Envelope:
    """Answer with a directory's entries."""
    shown = entry_tuple(entries)
    remarks = tuple(warnings)
    if truncated and not remarks:
        remarks = (TRUNCATED_LISTING,)
    result = Listing(path=path, entries=shown, entry_count=len(shown), truncated=truncated)
    return success(result, tool=tool, warnings=remarks)


def search(
    query: str,
    entries: Iterable[Entry | Mapping[str, str]],
    *,
    truncated: bool = False,
    tool: str | None = None,
    warnings: Iterable[str] = (),
) -> Envelope:
    """Answer with what a search by name found."""
    shown = entry_tuple(entries)
    result = SearchResult(query=query, entries=shown, match_count=len(shown), truncated=truncated)
    return success(result, tool=tool, warnings=warnings)


def file(content: FileText, *, tool: str | None = None, warnings: Iterable[str] = ()) -> Envelope:
    """Answer with a file's text."""
    return success(content, tool=tool, warnings=warnings)


class FailureDetails(TypedDict, total=False):
    """What may be said about a failure beyond its kind and message."""

    field: str | None
    expected: str | None
    retryable: bool | None
    """None: as the kind says."""
    extras: Mapping[str, object] | None


def failure(
    kind: FailureKind | str,
    message: str,
    *,
    tool: str | None = None,
    **details: Unpack[FailureDetails],
) -> Envelope:
    """Answer that it did not work. Raises ValueError for a kind that does not exist."""
    return Envelope(failure=failure_of(kind, message, **details), tool=tool)


def failure_of(kind: FailureKind | str, message: str, **details: Unpack[FailureDetails]) -> Failure:
    """Say what went wrong, without an envelope around it. Texts are made valid Unicode."""
    known = FailureKind(kind)
    retryable = details.get("retryable")
    return Failure(
        kind=known,
        message=clean_text(message),
        retryable=known.retryable if retryable is None else bool(retryable),
        field=_optional_text(details.get("field")),
        expected=_optional_text(details.get("expected")),
        extras=_extras(details.get("extras") or {}),
    )


def _optional_text(given: object) -> str | None:
    return None if given is None else clean_text(given)


def _extras(given: Mapping[str, object]) -> dict[str, JsonValue]:
    named = ((clean_text(key), value) for key, value in given.items())
    return {key: plain(value) for key, value in named if key not in RESERVED_KEYS}


def entry_tuple(entries: Iterable[Entry | Mapping[str, str]]) -> tuple[Entry, ...]:
    """Read entries given as mappings; a type that is neither file nor directory is refused."""
    return tuple(entry if isinstance(entry, Entry) else _entry(entry) for entry in entries)


def _entry(given: Mapping[str, str]) -> Entry:
    kind = given["type"]
    if kind not in {"file", "directory"}:
        raise ValueError(f"a listing entry's type is 'file' or 'directory', not {kind!r}")
    return Entry(
        name=given["name"], path=given["path"], type="file" if kind == "file" else "directory"
    )
