"""Which projects a person trusts, and at which content.

Until then a project's own files can only narrow. Trust is bound to the hash of everything in the
project's holdfast folder: any change, and it has to be given again. What counts is the private copy
of what was trusted, so that a change in the middle of a session changes nothing in it.
"""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from holdfast.app import project_folder
from holdfast.app.own_files import closed_folder
from holdfast.app.problems import ConfigurationError
from holdfast.app.state_file import locked, read_bytes, replace


class Trusted(msgspec.Struct, frozen=True, kw_only=True):
    """One project somebody trusts."""

    fingerprint: str
    at: datetime


_decode = msgspec.json.Decoder(dict[str, Trusted]).decode
_encode = msgspec.json.Encoder(order="sorted").encode


class TrustFile:
    """The projects a person trusts."""

    def __init__(self, state_home: Path) -> None:
        self.path = state_home / "trust.json"
        self._copies = state_home / "trusted"

    def load(self) -> dict[str, Trusted]:
        """All of them; a file that cannot be read is an error, not an empty one."""
        try:
            content = read_bytes(self.path)
            return {} if content is None else _decode(content)
        except (OSError, ValueError) as problem:
            closed = closed_folder(self.path)
            if closed is not None:
                raise ConfigurationError(closed) from None
            raise ConfigurationError(
                f"{self.path}: it cannot be read ({problem}); remove it to trust no project"
            ) from None

    def kept(self, project: Path) -> Path | None:
        """The copy of the project's folder, if it is trusted with exactly what it holds now.

        Raises ConfigurationError when the copy cannot be kept.
        """
        known = self.load().get(str(project))
        found = None if known is None else _readable(project)
        if known is None or found is None or found.fingerprint != known.fingerprint:
            return None
        try:
            if found.is_kept_in(self._copies):
                return self._copies / found.fingerprint
            with locked(self.path):
                return found.keep_in(self._copies)
        except OSError as problem:
            raise ConfigurationError(
                f"{self._copies}: what you trust cannot be kept there ({problem.strerror});"
                " correct its permissions"
            ) from None

    def trusts(self, project: Path) -> bool:
        """Whether the project is trusted with exactly what it holds now."""
        known = self.load().get(str(project))
        found = None if known is None else _readable(project)
        return known is not None and found is not None and found.fingerprint == known.fingerprint

    def trust(self, project: Path, seen: "project_folder.ProjectFolder") -> None:
        """Trust the project with the content that was seen."""
        with locked(self.path):
            known = self.load()
            seen.keep_in(self._copies)
            known[str(project)] = Trusted(fingerprint=seen.fingerprint, at=datetime.now(UTC))
            self._replace(known)

    def forget(self, project: Path) -> bool:
        """Trust it no longer; whether it was trusted."""
        with locked(self.path):
            known = self.load()
            if known.pop(str(project), None) is None:
                return False
            self._replace(known)
        return True

    def _replace(self, known: dict[str, Trusted]) -> None:
        """Write the record, and let go of copies that nobody trusts any more."""
        replace(self.path, _encode(known))
        wanted = {one.fingerprint for one in known.values()}
        for copy in self._copies.iterdir() if self._copies.is_dir() else ():
            if copy.name not in wanted:
                shutil.rmtree(copy, ignore_errors=True)


def _readable(project: Path) -> "project_folder.ProjectFolder | None":
    try:
        return project_folder.read_project(project)
    except ConfigurationError:
        return None  # what cannot be read whole has changed
