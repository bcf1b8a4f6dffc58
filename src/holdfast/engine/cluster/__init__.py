"""Sessions on many machines: who runs them is told by PostgreSQL, and everybody is told by NATS."""
