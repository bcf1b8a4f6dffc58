"""Further calls of built-in tools: other forms of their answers, and every path they may name."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pytest
from matrix_calls import PATCH, Arguments

from holdfast.app.profiles import TOOLSETS
from holdfast.contract.tool import Tool
from holdfast.sources.intake import to_tool

_OWN_TABLE = frozenset(one.name for one in TOOLSETS["managed"]) - {
    *("session_delegate", "session_run_child")
}
"""Proven by `tests/tools/managed/tool_table.py`: their requests share 12,000 tokens, so that few of
them have an example, and they need sessions, memory and shared files to be called at all."""
BUILTINS: Mapping[str, Tool] = {
    one.name: to_tool(one)
    for name, tools in TOOLSETS.items()
    for one in tools
    if name != "managed" or one.name not in _OWN_TABLE
}


def _param(name: str) -> object:
    # A language server takes long to start on a machine that is busy.
    return pytest.param(
        BUILTINS[name], id=name, marks=[pytest.mark.timeout(60)] if name == "lsp" else []
    )


each_tool = pytest.mark.parametrize("tool", [_param(name) for name in sorted(BUILTINS)])
"""One test for every built-in tool."""

NEW_FILE = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n"
MUCH = "seq 1 100000"
"""More than any tool shows of a command."""
AT_ADD: Arguments = {"path": "src/app.py", "line": 1, "column": 5}

FURTHER: Mapping[str, Sequence[Arguments]] = {
    "read": [{"path": "."}, {"path": "src/app.py"}, {"path": "src/app.py", "tail_lines": 1}],
    "file_read": [{"path": "."}, {"path": "src/app.py"}],
    "sandbox_read_file": [{"path": "src"}, {"path": "src/app.py"}],
    "glob": [{"pattern": "**"}, {"pattern": "**", "limit": 1}, {"pattern": "*.none"}],
    "grep": [{"pattern": "a"}, {"pattern": "a", "limit": 1}, {"pattern": "none of it"}],
    "sandbox_search_files": [{"query": "none of it"}, {"query": "s", "limit": 1}],
    "bash": [
        {"command": "exit 3"},
        {"command": "kill -9 $$"},
        {"command": "sleep 9", "timeout_ms": 1},
        {"command": MUCH},
    ],
    "sandbox_exec": [
        {"command": "kill -9 $$"},
        {"command": "sleep 60", "background": True},
        {"command": MUCH},
    ],
    "shell_run": [{"command": "exit 3"}, {"command": "kill -9 $$"}, {"command": MUCH}],
    "sandbox_process": [
        {"action": "wait", "pid": "{pid}", "timeout": 1},
        {"action": "kill", "pid": "{pid}", "force": True},
        {"action": "wait", "pid": "{pid}"},
        {"action": "poll", "pid": "{pid}"},
        {"action": "kill", "pid": "{pid}"},
    ],
    "lsp": [
        {"action": "hover", **AT_ADD},
        {"action": "definition", **AT_ADD},
        {"action": "references", **AT_ADD},
        {"action": "diagnostics", "path": "src/app.py"},
    ],
    "task": [{"subagent_type": "reviewer", "prompt": "x", "background": True}],
    "tool_search": [{"query": "none of it"}],
    "todo": [{"todos": []}],
    "question": [{"questions": [{"question": "One?"}, {"question": "Two?"}]}],
    "clarify": [{"question": "Which one?"}],
    "web_search": [{"query": "none"}],
    "share_artifact": [{"content": "kept", "filename": "notes.txt"}],
    "repo_overview": [{"path": "src"}],
    "apply_patch": [{"patch": NEW_FILE}],
    "edit": [{"path": "README.md", "old_string": "It adds.", "new_string": "It adds up."}],
}
"""Whatever else a tool answers with; what is not here answers with one form alone."""


class Path(NamedTuple):
    """An argument that names a path, and one that works there."""

    argument: str
    works: str


PATHS: Mapping[str, Path] = {
    "read": Path("path", "src/app.py"),
    "file_read": Path("path", "src/app.py"),
    "sandbox_read_file": Path("path", "src/app.py"),
    "write": Path("path", "README.md"),
    "sandbox_write_file": Path("path", "README.md"),
    "edit": Path("path", "src/app.py"),
    "apply_patch": Path("patch", PATCH),
    "glob": Path("path", "src"),
    "grep": Path("path", "src"),
    "sandbox_search_files": Path("path", "src"),
    "repo_overview": Path("path", "src"),
    "repo_clone": Path("directory", "new"),
    "lsp": Path("path", "src/app.py"),
    "view_image": Path("path", "picture.png"),
    "share_artifact": Path("path", "README.md"),
    "bash": Path("workdir", "src"),
    "sandbox_exec": Path("cwd", "src"),
}

WITHOUT_OPTIONAL_TEXTS = frozenset(
    {
        *("read", "file_read", "sandbox_read_file", "write", "sandbox_write_file", "edit"),
        *("apply_patch", "todo", "task", "question", "clarify", "web_search", "web_fetch"),
        *("skill", "tool_search", "plan", "plan_exit", "view_image", "sandbox_process"),
        *("shell_run", "complete", "session_run_child"),
    }
)
"""A model cannot fill in anything for them that was not asked for."""

each_tool_with_a_path = pytest.mark.parametrize("tool", [_param(name) for name in sorted(PATHS)])
"""One test for every built-in tool that is told a path."""

CUT_THEMSELVES = frozenset({"read", "file_read", "sandbox_read_file"})
"""They read no more than they show."""
BY_REFERENCE = frozenset({"view_image"})
"""What they give stands in a file of its own."""
