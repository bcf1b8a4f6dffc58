"""How a SQLite file is: looked at without changing it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from holdfast.record.sqlite.connection import BUSY_SECONDS, told
from holdfast.record.sqlite.schema import MIGRATIONS, version_of
from holdfast.record.store import StoreHealth


def check_sqlite(path: Path) -> StoreHealth:
    """Can it be written, and by this program? Blocking; JournalUnavailable."""
    with told(path):
        if not path.exists():
            return StoreHealth(str(path), None, len(MIGRATIONS))
        address = f"file:{quote(str(path))}?mode=rw"
        opened = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        with closing(opened) as connection:
            connection.execute("BEGIN IMMEDIATE")
            return StoreHealth(str(path), version_of(connection) or None, len(MIGRATIONS))
