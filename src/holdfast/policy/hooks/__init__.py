"""Watchdog hooks that ship with holdfast. Each looks at one category of calls and nothing else."""
