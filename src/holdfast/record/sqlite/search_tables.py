"""The tables of the full text, and how far it has come in each session."""

SEARCH = """
CREATE VIRTUAL TABLE search USING fts5 (
    text, session_id UNINDEXED, sequence UNINDEXED, tokenize = 'unicode61'
);

CREATE TABLE search_places (
    session_id TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL
) WITHOUT ROWID;
"""

SEARCH_OF_WORDS = """
DROP TABLE search;

DELETE FROM search_places;

CREATE TABLE search_entries (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    UNIQUE (session_id, sequence)
);

CREATE VIRTUAL TABLE search USING fts5 (words, tokenize = 'ascii');

CREATE INDEX parts_of_session ON chat_parts (session_id);

CREATE TRIGGER search_forgets AFTER DELETE ON chat_sessions BEGIN
    DELETE FROM search WHERE rowid IN (SELECT id FROM search_entries WHERE session_id = old.id);
    DELETE FROM search_entries WHERE session_id = old.id;
    DELETE FROM search_places WHERE session_id = old.id;
END;
"""
"""Words are taken apart and folded before they come here: `ascii` leaves them as they are. What a
session said goes with the session, in the same transaction; and that no part refers to a session
that goes is seen without a look at every part there is."""
