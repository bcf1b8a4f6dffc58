"""Statements that every store understands, as PostgreSQL writes them."""

import re
from functools import cache

_TABLES = re.compile(
    r"\b(chat_sessions|chat_messages|chat_parts|session_briefs|events|search_places|search"
    r"|version_contents|versions|workspace_pieces)\b"
)
NOW = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"
"""What time it is at the server, in microseconds since 1970."""
_BYTES = "CAST(data_json AS BLOB)", "convert_to(data_json, 'UTF8')"


@cache
def query(statement: str) -> bytes:
    """The same, in our schema, with places for values as the client knows them."""
    written = _TABLES.sub(r"holdfast.\1", statement).replace(*_BYTES)
    return written.replace("?", "%s").encode()
