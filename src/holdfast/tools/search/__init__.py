"""Providers of web search, as translators: they send nothing, and hold nothing of a session."""
