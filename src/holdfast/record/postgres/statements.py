"""Statements that every store understands, as PostgreSQL writes them."""

import re
from functools import cache

_TABLES = re.compile(
    r"\b(chat_sessions|chat_messages|chat_parts|session_briefs|events|search_places|search"
    r"|version_contents|versions)\b"
)
_OF_ONE_SESSION = re.compile(
    r"SELECT (?P<told>.*) FROM chat_sessions, events WHERE chat_sessions\.id = \? AND"
    r" (?P<which>.*?)(?P<order> ORDER BY place(?: DESC)?)?(?P<most> LIMIT \?)?",
    re.DOTALL,
)
NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"
"""What time it is at the server, in microseconds since 1970."""
_BYTES = "CAST(data_json AS BLOB)", "convert_to(data_json, 'UTF8')"


@cache
def query(statement: str) -> bytes:
    """The same, in our schema, with places for values as the client knows them."""
    found = _OF_ONE_SESSION.fullmatch(statement)
    written = _in_our_schema(statement) if found is None else _of_one_session(found)
    return written.replace(*_BYTES).replace("?", "%s").encode()


def _in_our_schema(statement: str) -> str:
    return _TABLES.sub(r"holdfast.\1", statement)


def _of_one_session(found: re.Match[str]) -> str:
    """Events of one session, which the planner must look up there.

    It takes a session for a large part of all events, and would rather read all of them in order.
    """
    told = found["told"].replace("chat_sessions.", "one.").replace("events.", "its.")
    order = found["order"] or ""
    which = _in_our_schema(f"{found['which']}{order}{found['most'] or ' OFFSET 0'}")
    return (
        f"SELECT {told} FROM (SELECT id, number FROM holdfast.chat_sessions WHERE id = ?) AS one"
        f" CROSS JOIN LATERAL (SELECT * FROM holdfast.events WHERE {which}) AS its{order}"
    )
