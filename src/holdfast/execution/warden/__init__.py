"""The warden: a small process that starts every process of a session policy, and ends them all.

It runs in a process of its own and loads the standard library alone.
"""
