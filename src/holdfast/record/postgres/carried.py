"""The files of carried workspaces in PostgreSQL, on connections that are borrowed, in threads."""

from collections.abc import Collection, Mapping
from typing import LiteralString

from anyio import to_thread

from holdfast.record.owner import Owner
from holdfast.record.postgres.connection import PostgresConnections

CARRIED: LiteralString = """
CREATE TABLE holdfast.workspace_pieces (
    session_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (session_id, name)
);

CREATE FUNCTION holdfast.workspace_goes() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM holdfast.workspace_pieces WHERE session_id = OLD.id;
    RETURN NULL;
END $$;

CREATE TRIGGER workspace_goes AFTER DELETE ON holdfast.chat_sessions
FOR EACH ROW EXECUTE FUNCTION holdfast.workspace_goes();
"""
"""What a session carries goes with the session, in the same transaction."""

_PUT: LiteralString = (
    "INSERT INTO holdfast.workspace_pieces SELECT %s, * FROM unnest(%s::text[], %s::bytea[])"
    " ON CONFLICT DO NOTHING"
)
_READ: LiteralString = (
    "SELECT name, content FROM holdfast.workspace_pieces WHERE session_id = %s AND name = ANY(%s)"
)
_EPOCH: LiteralString = "SELECT epoch FROM holdfast.chat_sessions WHERE id = %s FOR UPDATE"
"""Whoever takes the session over waits until the others are removed."""
_REMOVE: LiteralString = (
    "DELETE FROM holdfast.workspace_pieces AS one WHERE session_id = %s AND NOT EXISTS"
    " (SELECT FROM unnest(%s::text[]) AS kept (name) WHERE kept.name = one.name)"
)
_LOCK_TIMEOUT: LiteralString = "SET LOCAL lock_timeout = '5s'"


class PostgresCarried:
    """A CarriedStore."""

    def __init__(self, connections: PostgresConnections) -> None:
        self._connections = connections
        self._owner = Owner()

    async def put(self, session_id: str, pieces: Mapping[str, bytes], /) -> None:
        """Store them, all or none; one that is there is left as it is."""
        await to_thread.run_sync(self._put, session_id, pieces)

    async def read(self, session_id: str, names: Collection[str], /) -> Mapping[str, bytes]:
        """Those of them that there are."""
        return await to_thread.run_sync(self._read, session_id, names)

    async def keep_only(self, session_id: str, names: Collection[str], /, *, epoch: int) -> bool:
        """Remove all other pieces of the session, while this epoch is the newest one."""
        return await to_thread.run_sync(self._keep_only, session_id, names, epoch)

    def _put(self, session_id: str, pieces: Mapping[str, bytes]) -> None:
        self._owner.check()
        names = sorted(pieces)  # two who store the same wait for each other in one order
        values = (session_id, names, [pieces[name] for name in names])
        with self._connections.borrowed() as connection, connection.transaction():
            connection.execute(_PUT, values)

    def _read(self, session_id: str, names: Collection[str]) -> Mapping[str, bytes]:
        self._owner.check()
        with self._connections.borrowed() as connection:
            found = connection.execute(_READ, (session_id, [*names]), binary=True).fetchall()
        return {name: bytes(content) for name, content in found}

    def _keep_only(self, session_id: str, names: Collection[str], epoch: int) -> bool:
        self._owner.check()
        with self._connections.borrowed() as connection, connection.transaction():
            connection.execute(_LOCK_TIMEOUT)
            if connection.execute(_EPOCH, (session_id,)).fetchone() != (epoch,):
                return False
            connection.execute(_REMOVE, (session_id, [*names]))
            return True
