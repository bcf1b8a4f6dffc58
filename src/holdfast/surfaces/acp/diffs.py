"""Changes of files as an editor shows them: both texts, before and after.

Of a call that has not run yet, as far as its arguments tell; of one that has, as it is recorded.
Files are only read, and not shown as they are: whoever looks at them takes secrets out.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from acp.schema import FileEditToolCallContent

from holdfast.app.changed_texts import ChangedText, text_of_file
from holdfast.app.changes import Before
from holdfast.contract.json_value import JsonObject
from holdfast.surfaces.acp.titles import whole_path


def wanted_changes(
    tool: str, arguments: JsonObject, workspace: str | None, before: Before
) -> list[FileEditToolCallContent]:
    """What a call would change that has not begun. Blocking."""
    return [] if workspace is None else list(_wanted(tool, arguments, workspace, before))


def written_changes(
    tool: str, arguments: JsonObject, workspace: str | None
) -> list[FileEditToolCallContent]:
    """What a call of long ago was to change, by its arguments alone."""
    match tool, arguments:
        case "edit", {"path": str(path), "old_string": str(old), "new_string": str(new)}:
            return [_diff(whole_path(path, workspace or "/"), old, new)]
        case "write", {"path": str(path), "content": str(text)}:
            return [_diff(whole_path(path, workspace or "/"), None, text)]
        case _:
            return []


def made_changes(changed: Sequence[ChangedText]) -> list[FileEditToolCallContent]:
    """What a call changed."""
    return [_diff(one.path, one.before, one.after or "") for one in changed]


def file_as_it_is(path: str) -> str | None:
    """The text of a file now; None: there is none, or it cannot be shown. Blocking."""
    return text_of_file(Path(path))


def _wanted(
    tool: str, arguments: JsonObject, workspace: str, before: Before
) -> Iterator[FileEditToolCallContent]:
    match tool, arguments:
        case "edit", {"path": str(path), "old_string": str(old), "new_string": str(new)}:
            file = whole_path(path, workspace)
            whole = before(file)
            if whole is None or not old or old not in whole:
                whole = old
            everywhere = arguments.get("replace_all") is True
            changed = whole.replace(old, new, -1 if everywhere else 1) if old else new
            yield _diff(file, whole, changed)
        case "write", {"path": str(path), "content": str(text)}:
            file = whole_path(path, workspace)
            yield _diff(file, before(file), text)
        case _:
            return


def _diff(path: str, before: str | None, after: str) -> FileEditToolCallContent:
    return FileEditToolCallContent(type="diff", path=path, old_text=before, new_text=after)
