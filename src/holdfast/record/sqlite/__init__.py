"""The journal in one SQLite file: the embedded default, safe with several processes."""
