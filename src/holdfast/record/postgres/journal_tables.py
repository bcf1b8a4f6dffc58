"""The tables of the journal, as PostgreSQL makes them."""

JOURNAL = """
CREATE TABLE holdfast.chat_sessions (
    id text COLLATE "C" PRIMARY KEY,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    sequence bigint NOT NULL,
    hash bytea NOT NULL,
    state_json text NOT NULL,
    epoch bigint NOT NULL,
    holder text,
    until bigint NOT NULL
);

CREATE TABLE holdfast.events (
    session_id text COLLATE "C" NOT NULL REFERENCES holdfast.chat_sessions (id),
    sequence bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    micros bigint NOT NULL,
    wake_id text,
    type text NOT NULL,
    version integer NOT NULL,
    body bytea NOT NULL,
    previous bytea NOT NULL,
    hash bytea NOT NULL,
    processed_at bigint,
    PRIMARY KEY (session_id, sequence)
);

CREATE INDEX events_pending ON holdfast.events (session_id, sequence)
    WHERE processed_at IS NULL;

CREATE INDEX events_of_wake ON holdfast.events (session_id, wake_id, sequence)
    WHERE wake_id IS NOT NULL;

CREATE TABLE holdfast.chat_messages (
    id text COLLATE "C" PRIMARY KEY,
    session_id text COLLATE "C" NOT NULL REFERENCES holdfast.chat_sessions (id),
    "index" bigint NOT NULL,
    role text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    UNIQUE (session_id, "index")
);

CREATE TABLE holdfast.chat_parts (
    id text COLLATE "C" NOT NULL,
    message_id text COLLATE "C" NOT NULL REFERENCES holdfast.chat_messages (id),
    session_id text COLLATE "C" NOT NULL REFERENCES holdfast.chat_sessions (id),
    "index" bigint NOT NULL,
    type text NOT NULL,
    data_json text NOT NULL,
    tool_call_id text,
    tool_state text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (message_id, "index")
);
"""
