"""Who runs which session when, on many machines: PostgreSQL is the truth, NATS carries hints."""
