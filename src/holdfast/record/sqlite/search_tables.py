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

SEARCH_OF_PLACES = """
DROP TRIGGER search_forgets;

DROP TABLE search;

DROP TABLE search_entries;

DELETE FROM search_places;

CREATE VIRTUAL TABLE search USING fts5 (words, marks, tokenize = 'ascii');

CREATE TRIGGER search_forgets AFTER DELETE ON chat_sessions BEGIN
    DELETE FROM search
    WHERE rowid > old.number * 4294967296 AND rowid < (old.number + 1) * 4294967296;
    DELETE FROM search_places WHERE session_id = old.id;
END;
"""
"""Words under the place of their event: the newest sessions come first where the greatest places
do, and no table is needed to tell which event is meant. The marks of an event say whose it is, of
which session and of which kind; all that is kept is taken up anew."""

SEARCH_OF_KINDS = """
DROP TRIGGER search_forgets;

DROP TABLE search;

DELETE FROM search_places;

CREATE VIRTUAL TABLE search USING fts5 (words, marks, tokenize = 'ascii');

CREATE TRIGGER search_forgets AFTER DELETE ON chat_sessions BEGIN
    DELETE FROM search
    WHERE rowid > old.number * 4294967296 AND rowid < (old.number + 1) * 4294967296;
    DELETE FROM search_places WHERE session_id = old.id;
END;
"""
"""The same tables, with other marks: one says whose an event is and of which kind; all that is kept
is taken up anew."""
