"""The tables of versions, and of files that sessions carry; the same content is stored once."""

VERSIONS = """
CREATE TABLE version_contents (
    hash TEXT PRIMARY KEY,
    content BLOB NOT NULL
);

CREATE TABLE versions (
    space TEXT NOT NULL,
    target TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    micros INTEGER NOT NULL,
    mode TEXT NOT NULL,
    source TEXT NOT NULL,
    session_id TEXT,
    wake_id TEXT,
    content_hash TEXT NOT NULL REFERENCES version_contents (hash),
    size_bytes INTEGER NOT NULL,
    preview TEXT NOT NULL,
    previous_id TEXT,
    restored_from TEXT,
    PRIMARY KEY (space, target, number)
) WITHOUT ROWID;
"""

CARRIED = """
CREATE TABLE workspace_pieces (
    session_id TEXT NOT NULL,
    name TEXT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (session_id, name)
);

CREATE TRIGGER workspace_goes AFTER DELETE ON chat_sessions BEGIN
    DELETE FROM workspace_pieces WHERE session_id = old.id;
END;
"""
"""What a session carries goes with the session, in the same transaction."""
