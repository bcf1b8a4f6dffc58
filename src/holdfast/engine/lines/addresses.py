"""The subjects of a bus at which processes find each other, and a session those who follow it.

Names of machines and sessions may hold what a subject must not; such a one is told by its hash.
What is said there is not known here.
"""

import hashlib
import re
import secrets
from typing import NamedTuple

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TOKEN = re.compile(r"[0-9a-f]{32}")
_TOKEN_BYTES = 16


class Addresses(NamedTuple):
    """The subjects of one namespace."""

    namespace: str

    def process(self, process: str, session_id: str) -> str:
        """Where a process answers for a session that it runs."""
        return f"{self.namespace}.process.{_hashed(process)}.{word_of(session_id)}"

    def stream(self, token: str) -> str:
        """Where one end of a connection listens."""
        return f"{self.namespace}.stream.{token}"

    def look(self, session_id: str) -> str:
        """Where it is said that something was written down for a session."""
        return f"{self.namespace}.look.{word_of(session_id)}"

    @property
    def any_look(self) -> str:
        """The same, of every session."""
        return f"{self.namespace}.look.*"


def new_token() -> str:
    """A name for one end of a connection, which nobody guesses."""
    return secrets.token_hex(_TOKEN_BYTES)


def is_token(text: str) -> bool:
    """Whether it is such a name: whoever asks must not choose what subject is answered to."""
    return _TOKEN.fullmatch(text) is not None


def word_of(name: str) -> str:
    """One word of a subject that stands for a name."""
    return name if _PLAIN.fullmatch(name) else f"={_hashed(name)}"


def _hashed(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
