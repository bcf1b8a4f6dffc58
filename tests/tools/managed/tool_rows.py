"""What a row of the table of managed tools is made of."""

from typing import Any, NamedTuple

from holdfast.contract.failure import FailureKind as Kind

Arguments = dict[str, Any]


class Refused(NamedTuple):
    """Arguments that have to be refused."""

    arguments: Arguments
    kind: Kind
    field: str | None


class Row(NamedTuple):
    """One tool."""

    good: tuple[Arguments, ...]
    bad: tuple[Refused, ...] = ()


def invalid(field: str, /, **arguments: Any) -> Refused:
    return Refused(arguments, Kind.INVALID_ARGS, field)


def rejected(field: str | None = None, /, **arguments: Any) -> Refused:
    return Refused(arguments, Kind.REJECTED, field)


def stale(**arguments: Any) -> Refused:
    """Something else is shared than was expected: nothing is wrong with what was asked."""
    return Refused(arguments, Kind.EXECUTION_ERROR, None)


def missing(field: str | None = None, /, **arguments: Any) -> Refused:
    return Refused(arguments, Kind.NOT_FOUND, field)


ANY_SESSION: tuple[Arguments, ...] = ({}, {"session_id": "$second"}, {"session_id": "$child"})
