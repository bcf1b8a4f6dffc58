"""The durable truth of sessions: a journal of events, and everything that is made from it."""
