"""Events by their place: a number that holds the session's and the event's own."""

from typing import LiteralString

PLACES: LiteralString = """
CREATE SEQUENCE holdfast.session_numbers;

ALTER TABLE holdfast.chat_sessions ADD COLUMN number bigint UNIQUE;

UPDATE holdfast.chat_sessions SET number = nextval('holdfast.session_numbers');

ALTER TABLE holdfast.chat_sessions ALTER COLUMN number SET NOT NULL;

ALTER TABLE holdfast.events ADD COLUMN place bigint;

UPDATE holdfast.events SET place = number * 4294967296 + events.sequence
FROM holdfast.chat_sessions WHERE chat_sessions.id = session_id;

ALTER TABLE holdfast.events DROP COLUMN session_id, DROP COLUMN sequence, ADD PRIMARY KEY (place);

CREATE INDEX events_pending ON holdfast.events (place, id) WHERE processed_at IS NULL;

CREATE INDEX events_of_wake ON holdfast.events (wake_id, place) WHERE wake_id IS NOT NULL;

CREATE VIEW holdfast.session_events AS
SELECT chat_sessions.id AS session_id, place - number * 4294967296 AS sequence, events.*
FROM holdfast.events JOIN holdfast.chat_sessions ON number = place / 4294967296;

ALTER TABLE holdfast.chat_parts DROP CONSTRAINT chat_parts_session_id_fkey;

DROP INDEX holdfast.parts_of_session;
"""
"""A part refers to its session through its message: an index for that alone is not needed."""
