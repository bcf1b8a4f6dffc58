"""Secrets inside arguments: a known value, or a text shaped like a key, on its way somewhere.

Only calls that use a capability are looked at: what stays in this process leaks nothing.
"""

import re
from typing import NamedTuple

from holdfast.contract.json_value import encode_json
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Inspection, Opinion


class Shape(NamedTuple):
    """What a key looks like, and a piece of plain text that every such key holds."""

    name: str
    mark: str
    """Looking for it is far cheaper than looking for the shape, and nearly no text has it."""
    form: str
    """Compiled with the first text that has the mark."""


SHAPES = (
    Shape("a private key", "PRIVATE KEY", r"-----BEGIN [A-Z ]*PRIVATE KEY"),
    Shape("an AWS access key", "AKIA", r"\bAKIA[0-9A-Z]{16}\b"),
    Shape("an AWS access key", "ASIA", r"\bASIA[0-9A-Z]{16}\b"),
    Shape("a GitHub token", "gh", r"\bgh[pousr]_[0-9A-Za-z]{36,}"),
    Shape("a GitHub token", "github_pat_", r"\bgithub_pat_[0-9A-Za-z_]{22,}"),
    Shape("a GitLab token", "glpat-", r"\bglpat-[0-9A-Za-z_-]{20,}"),
    Shape("an API key", "sk-", r"\bsk-(?:ant-|proj-)?[0-9A-Za-z_-]{20,}"),
    Shape("a Slack token", "xox", r"\bxox[abposr]-[0-9A-Za-z-]{10,}"),
    Shape("a Google API key", "AIza", r"\bAIza[0-9A-Za-z_-]{35}\b"),
    Shape(
        "a signed token",
        "eyJ",
        r"\beyJ[0-9A-Za-z_-]{15,}\.eyJ[0-9A-Za-z_-]{15,}\.[0-9A-Za-z_-]{10,}",
    ),
    Shape("a Stripe key", "k_live_", r"\b[sr]k_live_[0-9A-Za-z]{20,}"),
)


class SecretsInArguments:
    """Looks for the known secrets, and for the shapes of others."""

    __name__ = "secrets_in_arguments"

    def __init__(self, known: tuple[str, ...] = ()) -> None:
        self._known = tuple(encode_json(value).decode()[1:-1] for value in known if value)

    def __call__(self, inspection: Inspection, /) -> Opinion:
        """Look; the opinion never repeats what was found."""
        if all(use.capability is None for use in inspection.uses):
            return NOTHING_AGAINST_IT
        text = encode_json(inspection.arguments).decode()
        if any(value in text for value in self._known):
            return Opinion("deny", "Its arguments hold a secret that must not leave.")
        for name, mark, form in SHAPES:
            if mark in text and re.search(form, text):
                return Opinion("ask", f"Its arguments hold what looks like {name}.")
        return NOTHING_AGAINST_IT
