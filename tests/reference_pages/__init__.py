"""Writes the pages of docs/reference from the code itself. It ships with nothing.

Run it: make docs
"""
