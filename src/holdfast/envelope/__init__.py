"""Answers: wrap, redact, bound, and render in the wire forms people already use."""
