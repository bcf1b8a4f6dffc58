"""The tables of versions; the same content is stored once."""

VERSIONS = """
CREATE TABLE holdfast.version_contents (
    hash text PRIMARY KEY,
    content bytea NOT NULL
);

CREATE TABLE holdfast.versions (
    space text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    id text NOT NULL UNIQUE,
    micros bigint NOT NULL,
    mode text NOT NULL,
    source text NOT NULL,
    session_id text,
    wake_id text,
    content_hash text NOT NULL REFERENCES holdfast.version_contents (hash),
    size_bytes bigint NOT NULL,
    preview text NOT NULL,
    previous_id text,
    restored_from text,
    PRIMARY KEY (space, target, number)
);
"""
