"""Events by their place in the file: a number that holds the session's and the event's own.

Rows of a number are appended without moving others, and take a third of the pages a text would.
"""

PLACES = """
CREATE TABLE session_numbers (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);

INSERT INTO session_numbers (id) SELECT id FROM chat_sessions ORDER BY created_at, id;

ALTER TABLE chat_sessions ADD COLUMN number INTEGER NOT NULL DEFAULT 0;

UPDATE chat_sessions SET number =
    (SELECT number FROM session_numbers WHERE session_numbers.id = chat_sessions.id);

DROP TABLE session_numbers;

CREATE UNIQUE INDEX session_numbers ON chat_sessions (number);

CREATE TABLE placed_events (
    place INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    micros INTEGER NOT NULL,
    wake_id TEXT,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    body BLOB NOT NULL,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL,
    processed_at INTEGER
);

INSERT INTO placed_events
SELECT number * 4294967296 + events.sequence, events.id, micros, wake_id, type, version, body,
    previous, events.hash, processed_at
FROM events JOIN chat_sessions ON chat_sessions.id = session_id ORDER BY 1;

DROP TABLE events;

ALTER TABLE placed_events RENAME TO events;

CREATE INDEX events_pending ON events (place, id) WHERE processed_at IS NULL;

CREATE INDEX events_of_wake ON events (wake_id, place) WHERE wake_id IS NOT NULL;

CREATE VIEW session_events AS
SELECT chat_sessions.id AS session_id, place - number * 4294967296 AS sequence, events.*
FROM events JOIN chat_sessions ON number = place / 4294967296;

DROP INDEX parts_of_session;

ALTER TABLE chat_parts RENAME TO older_parts;

CREATE TABLE chat_parts (
    id TEXT NOT NULL,
    message_id TEXT NOT NULL REFERENCES chat_messages (id),
    session_id TEXT NOT NULL,
    "index" INTEGER NOT NULL,
    type TEXT NOT NULL,
    data_json TEXT NOT NULL,
    tool_call_id TEXT,
    tool_state TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (message_id, "index")
) WITHOUT ROWID;

INSERT INTO chat_parts SELECT * FROM older_parts;

DROP TABLE older_parts;
"""
"""A part refers to its session through its message: an index for that alone is not needed."""
