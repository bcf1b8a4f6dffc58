"""A project's remembered answers, in holdfast's own state: no workspace can bring its own."""

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from holdfast.app.problems import ConfigurationError
from holdfast.app.state_file import locked, read_bytes, replace
from holdfast.contract.rules import Rule

_decode = msgspec.json.Decoder(list[Rule]).decode
_encode = msgspec.json.Encoder().encode


def grant_id(grant: Rule) -> str:
    """What a person calls a grant by: the same for the same answer, whenever it was given."""
    exact = [grant.permission, grant.capability, grant.pattern, grant.action]
    return hashlib.sha256(_encode(exact)).hexdigest()[:8]


class GrantFile:
    """The grants of one project, given in one workspace of it.

    Targets are told from the workspace: in another one the same words are other files.
    """

    def __init__(self, state_home: Path, project: Path, workspace: Path | None) -> None:
        where = str(project) if workspace == project else f"{project}\0{workspace or ''}"
        name = hashlib.sha256(where.encode("utf-8", "surrogateescape")).hexdigest()[:32]
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
            kept = {grant_id(grant): grant for grant in (*self.load(), *grants)}
            replace(self.path, _encode(list(kept.values())))

    def forget(self, ids: Collection[str]) -> tuple[Rule, ...]:
        """Keep these no longer; returns what was there of them. Raises OSError."""
        with locked(self.path):
            kept = self.load()
            gone = tuple(grant for grant in kept if grant_id(grant) in ids)
            if gone:
                replace(self.path, _encode([grant for grant in kept if grant not in gone]))
        return gone
