"""Searching files with ripgrep, in a file system that shows no more than a call may read."""
