"""The tables of versions; the same content is stored once."""

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
