"""Which due moment of a session was told, beside it: what is untold is found without a long look.

A trigger forgets it, not the statement that moves a session: so it also holds for what a program of
an older version writes, which does not know of it.
"""

from typing import LiteralString

OUTBOX: LiteralString = """
ALTER TABLE holdfast.chat_sessions ADD COLUMN announced bigint;

CREATE INDEX sessions_untold ON holdfast.chat_sessions (due)
    WHERE due IS NOT NULL AND announced IS NULL;

CREATE FUNCTION holdfast.session_is_untold() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.announced := NULL;
    RETURN NEW;
END $$;

CREATE TRIGGER session_is_untold BEFORE UPDATE OF due ON holdfast.chat_sessions
FOR EACH ROW EXECUTE FUNCTION holdfast.session_is_untold();
"""
