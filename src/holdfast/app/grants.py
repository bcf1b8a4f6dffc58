"""A project's remembered answers, in holdfast's own state: no workspace can bring its own."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from holdfast.app.problems import ConfigurationError
from holdfast.app.state_file import locked, read_bytes, replace
from holdfast.contract.rules import Rule

_decode = msgspec.json.Decoder(list[Rule]).decode
_encode = msgspec.json.Encoder().encode


class GrantFile:
    """The grants of one project."""

    def __init__(self, state_home: Path, project: Path) -> None:
        name = hashlib.sha256(str(project).encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self.path = state_home / "grants" / f"{name}.json"

    def load(self) -> tuple[Rule, ...]:
        """The grants given so far; ConfigurationError when they cannot be read.

        Nothing is ever taken for no grants: among them may be refusals.
        """
        try:
            content = read_bytes(self.path)
            rules = [] if content is None else _decode(content)
        except (OSError, ValueError) as problem:
            raise ConfigurationError(
                f"{self.path}: the remembered answers cannot be read ({problem});"
                " repair the file, or remove it to forget them"
            ) from None
        return tuple(msgspec.structs.replace(rule, remembered=True) for rule in rules)

    def add(self, grants: Sequence[Rule], /) -> None:
        """Keep these too. Raises OSError when that fails; nothing is then kept."""
        with locked(self.path):
            replace(self.path, _encode([*self.load(), *grants]))
