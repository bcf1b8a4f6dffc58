"""Secrets inside arguments: a known value, or a text shaped like a key, on its way somewhere.

Only calls that use a capability are looked at: what stays in this process leaks nothing.
"""

import re

from holdfast.contract.json_value import encode_json
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Inspection, Opinion

_SHAPES = {
    r"-----BEGIN [A-Z ]*PRIVATE KEY": "a private key",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b": "an AWS access key",
    r"\bgh[pousr]_[0-9A-Za-z]{36,}": "a GitHub token",
    r"\bgithub_pat_[0-9A-Za-z_]{22,}": "a GitHub token",
    r"\bglpat-[0-9A-Za-z_-]{20,}": "a GitLab token",
    r"\bsk-(?:ant-|proj-)?[0-9A-Za-z_-]{20,}": "an API key",
    r"\bxox[abposr]-[0-9A-Za-z-]{10,}": "a Slack token",
    r"\bAIza[0-9A-Za-z_-]{35}\b": "a Google API key",
    r"\beyJ[0-9A-Za-z_-]{15,}\.eyJ[0-9A-Za-z_-]{15,}\.[0-9A-Za-z_-]{10,}": "a signed token",
    r"\b[sr]k_live_[0-9A-Za-z]{20,}": "a Stripe key",
}
_ANY_SHAPE = re.compile("|".join(_SHAPES))


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
        found = _ANY_SHAPE.search(text)
        if found is None:
            return NOTHING_AGAINST_IT
        name = next(name for shape, name in _SHAPES.items() if re.match(shape, found.group()))
        return Opinion("ask", f"Its arguments hold what looks like {name}.")
