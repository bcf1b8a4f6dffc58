"""Putting together what stands behind the managed tools of a session."""
