"""The tables of the full text, and how far it has come in each session."""

from typing import Final, LiteralString

LOCK: Final = 0x686F6C65
"""Held by whoever changes them."""

SEARCH: LiteralString = """
CREATE TABLE holdfast.search (
    session_id text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (session_id, sequence)
);

CREATE INDEX search_words ON holdfast.search USING gin (words);

CREATE TABLE holdfast.search_places (
    session_id text COLLATE "C" PRIMARY KEY,
    sequence bigint NOT NULL
);

CREATE INDEX parts_of_session ON holdfast.chat_parts (session_id);

CREATE FUNCTION holdfast.search_forgets() RETURNS trigger
LANGUAGE plpgsql SET lock_timeout = '5s' AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1752132709);
    DELETE FROM holdfast.search WHERE session_id = OLD.id;
    DELETE FROM holdfast.search_places WHERE session_id = OLD.id;
    RETURN NULL;
END $$;

CREATE TRIGGER search_forgets AFTER DELETE ON holdfast.chat_sessions
FOR EACH ROW EXECUTE FUNCTION holdfast.search_forgets();
"""
"""What a session said goes with the session, in the same transaction; and nobody takes up words of
one that goes at this moment. That no part refers to it is seen without a look at every part."""

SEARCH_OF_AGENTS: LiteralString = """
DELETE FROM holdfast.search;

DELETE FROM holdfast.search_places;

ALTER TABLE holdfast.search ADD COLUMN agent text COLLATE "C";

ALTER TABLE holdfast.search ADD COLUMN kind text COLLATE "C" NOT NULL;

CREATE INDEX search_agents ON holdfast.search (agent, session_id, sequence);
"""
"""Whose session an event is in, and of which kind it is: all that is kept is taken up anew."""
