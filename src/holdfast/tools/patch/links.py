"""Patches change plain files: a path that is itself a link is refused, whatever it leads to.

Files are looked at where links lead, so that it shows in the path they are told with. Directories
on the way may be links.
"""

import posixpath

from holdfast.contract.errors import InvalidArguments, ToolError
from holdfast.contract.files import FileFacts, Files
from holdfast.tools.patch.model import does_not_apply


class Links:
    """The links among the files of one patch."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._listed: dict[str, frozenset[str]] = {}

    def refuse(self, path: str, found: FileFacts) -> None:
        """Refuse a path that leads elsewhere by its last part."""
        if found.path == posixpath.normpath(path):
            return
        above, name = _parts(path)
        if found.path != posixpath.normpath(posixpath.join(self._files.stat(above).path, name)):
            raise _refusal(path)

    def refuse_to_nothing(self, path: str) -> None:
        """Refuse a link where nothing is found: a new file would be made where it leads."""
        above, name = _parts(path)
        if above not in self._listed:
            self._listed[above] = self._links_in(above)
        if name in self._listed[above]:
            raise _refusal(path)

    def _links_in(self, folder: str) -> frozenset[str]:
        try:
            entries = self._files.list(folder)
        except ToolError:
            return frozenset()
        return frozenset(one.name for one in entries if one.kind == "link")


def _parts(path: str) -> tuple[str, str]:
    above, _, name = path.rpartition("/")
    return above or ("/" if path.startswith("/") else "."), name


def _refusal(path: str) -> InvalidArguments:
    said = "it is a link, and only plain files are patched: patch what it leads to."
    return does_not_apply(path, None, said)
