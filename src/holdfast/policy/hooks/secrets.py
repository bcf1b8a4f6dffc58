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
    form: re.Pattern[str]


SHAPES = (
    Shape("a private key", "PRIVATE KEY", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY")),
    Shape("an AWS access key", "AKIA", re.compile(r"\bAKIA[0-9A-Z]{16}\b")),
    Shape("an AWS access key", "ASIA", re.compile(r"\bASIA[0-9A-Z]{16}\b")),
    Shape("a GitHub token", "gh", re.compile(r"\bgh[pousr]_[0-9A-Za-z]{36,}")),
    Shape("a GitHub token", "github_pat_", re.compile(r"\bgithub_pat_[0-9A-Za-z_]{22,}")),
    Shape("a GitLab token", "glpat-", re.compile(r"\bglpat-[0-9A-Za-z_-]{20,}")),
    Shape("an API key", "sk-", re.compile(r"\bsk-(?:ant-|proj-)?[0-9A-Za-z_-]{20,}")),
    Shape("a Slack token", "xox", re.compile(r"\bxox[abposr]-[0-9A-Za-z-]{10,}")),
    Shape("a Google API key", "AIza", re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b")),
    Shape(
        "a signed token",
        "eyJ",
        re.compile(r"\beyJ[0-9A-Za-z_-]{15,}\.eyJ[0-9A-Za-z_-]{15,}\.[0-9A-Za-z_-]{10,}"),
    ),
    Shape("a Stripe key", "k_live_", re.compile(r"\b[sr]k_live_[0-9A-Za-z]{20,}")),
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
            if mark in text and form.search(text):
                return Opinion("ask", f"Its arguments hold what looks like {name}.")
        return NOTHING_AGAINST_IT
