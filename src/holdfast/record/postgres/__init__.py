"""Stores in a PostgreSQL database, which many machines can share. Its client is an extra."""
