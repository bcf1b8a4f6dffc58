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
