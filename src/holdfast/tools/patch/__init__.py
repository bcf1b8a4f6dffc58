"""Patches: what they say, what becomes of files, and how that is written as one change."""
