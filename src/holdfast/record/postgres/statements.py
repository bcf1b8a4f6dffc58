"""Statements that every store understands, as PostgreSQL writes them."""

import re
from functools import cache

_TABLES = re.compile(r"\b(chat_sessions|chat_messages|chat_parts|events|search_places|search)\b")


@cache
def query(statement: str) -> bytes:
    """The same, in our schema, with places for values as the client knows them."""
    return _TABLES.sub(r"holdfast.\1", statement).replace("?", "%s").encode()
