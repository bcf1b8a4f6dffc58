"""A call of every built-in tool that works, and the surroundings it works in."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from git_server import git_host
from PIL import Image
from tool_kit import UNRECORDED, opened, result
from web_site import Reply, consenting, serving

from holdfast import Agent, ScriptedModel, Subagent
from holdfast import tool as granted
from holdfast.app.holdfast import Holdfast
from holdfast.app.options import Options
from holdfast.app.profiles import PROFILES, TOOLSETS
from holdfast.app.settings import (
    CommandSettings,
    LimitSettings,
    SearchSettings,
    Settings,
    SkillSettings,
    StoreSettings,
    WebSettings,
)
from holdfast.contract.person import Inquiry, Replies

Arguments = dict[str, Any]
OUTSIDE = "outside"
"""A folder beside the workspace with the same project in it."""
NOT_IN_THE_WORKSPACE = ("../outside/{}", "link_to_outside/{}", "{outside}/{}")
"""How the same path is named there."""

PATCH = """--- a/src/app.py
+++ b/src/app.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a + b
+    return b + a
"""
CHART = "month,sales\nJan,3\nFeb,5\n"

CALLS: Mapping[str, Arguments] = {
    "read": {"path": "src/app.py", "start_line": 1, "line_count": 1},
    "write": {"path": "new/notes.txt", "content": "kept\n"},
    "edit": {"path": "src/app.py", "old_string": "a + b", "new_string": "b", "replace_all": True},
    "glob": {"pattern": "**/*.py", "limit": 5},
    "grep": {"pattern": "def ", "case_sensitive": False, "limit": 5},
    "bash": {"command": "echo hello", "timeout_ms": 20_000},
    "todo": {"todos": [{"content": "a", "active_form": "doing a", "status": "pending"}]},
    "task": {"subagent_type": "reviewer", "prompt": "Look at it.", "background": False},
    "question": {"questions": [{"question": "Which one?", "options": [{"label": "This"}]}]},
    "web_search": {"query": "tides", "max_results": 3},
    "web_fetch": {"url": "{site}/page"},
    "skill": {"name": "greeting"},
    "tool_search": {"query": "weather"},
    "apply_patch": {"patch": PATCH},
    "repo_overview": {"depth": 2},
    "repo_clone": {"url": "{git}", "depth": 1},
    "lsp": {"action": "symbols", "path": "src/app.py"},
    "plan": {"plan": "1. Look.\n2. Mend.\n"},
    "plan_exit": {"summary": "Look, then mend."},
    "view_image": {"path": "picture.png"},
    "file_read": {"path": "src/app.py", "tail_lines": 1},
    "sandbox_read_file": {"path": "src/app.py", "tail_lines": 1},
    "sandbox_write_file": {"path": "new/notes.txt", "content": "kept\n"},
    "sandbox_search_files": {"query": "app"},
    "sandbox_exec": {"command": "echo hello", "timeout": 20},
    "sandbox_process": {"action": "poll", "pid": "{pid}", "tail_lines": 5},
    "shell_run": {"command": "echo hello", "timeout": 20},
    "share_artifact": {"path": "README.md"},
    "render_chart": {"data": CHART, "chartType": "bar", "series": ["sales"], "xColumn": "month"},
    "complete": {"summary": "The total is added up with the right sign, and the test passes."},
    "clarify": {"question": "Which one?", "options": ["This", "That"]},
    "session_delegate": {"message": "Look at it.", "success_criteria": [], "title": "A look"},
    "session_run_child": {"session_id": "{child}", "max_cycles": 2},
}


class AtWork(NamedTuple):
    """A session, and the call of the tool as it works there."""

    hf: Holdfast
    call: Arguments


@asynccontextmanager
async def at_work(
    workspace: Path, tool: str, limits: LimitSettings | None = None
) -> AsyncGenerator[AtWork]:
    """A session that has the tool, over a small project and small servers of its own."""
    _furnish(workspace)
    call = dict(CALLS[tool])
    with ExitStack() as servers:
        tools = [given for given in (_served(tool, call, workspace, servers),) if given]
        settings = _settings(workspace, limits or LimitSettings())
        options = Options(
            settings=settings,
            approver=consenting,
            person=_replying,
            subagents={"reviewer": Subagent(run=_reviewed, description="Looks at things.")},
            on_demand=["weather"] if tool == "tool_search" else [],
        )
        if tool.startswith("session_"):
            options |= _under_an_agent(settings)
        async with opened(workspace, _profile_with(tool), tools=tools, **options) as hf:
            if tool == "session_run_child":
                made = await result(hf, "session_delegate", message="Look at it.")
                call["session_id"] = made["child_session"]["session_id"]
            if tool == "sandbox_process":
                begun = await result(hf, "sandbox_exec", command="sleep 60", background=True)
                call["pid"] = begun["pid"]
            yield AtWork(hf, call)


@granted
def weather(place: str) -> str:
    """Tell the weather of a place."""
    return f"fair in {place}"


def _served(tool: str, call: Arguments, workspace: Path, servers: ExitStack) -> object:
    """What the tool fetches from, and a tool that grants it."""
    if tool == "web_fetch":
        site = servers.enter_context(serving())
        site.pages["/page"] = Reply(b"<h1>Tides</h1><p>High at noon.</p>")
        call["url"] = site.url("/page")
        return site.granting()
    if tool == "repo_clone":
        site = servers.enter_context(serving())
        host = servers.enter_context(git_host(workspace.parent / "served"))
        host.repository()
        call["url"] = host.url("project.git")
        site.place = f"127.0.0.1:{host.port}"
        return site.granting()
    return weather if tool == "tool_search" else None


def _under_an_agent(settings: Settings) -> Options:
    """For tools that make sessions: those are written down, and an agent runs them."""
    kept = msgspec.structs.replace(settings, store=StoreSettings())
    model = ScriptedModel(["Looked."] * 9)
    return Options(settings=kept, agent=Agent(id="looker", description="Looks."), model=model)


def _settings(workspace: Path, limits: LimitSettings) -> Settings:
    return Settings(
        store=UNRECORDED.store,
        limits=limits,
        commands=CommandSettings(background=True),
        skills=SkillSettings(project="always"),
        web=WebSettings(
            search=(SearchSettings(kind="static", file=str(workspace.parent / "index.json")),)
        ),
    )


async def _replying(inquiry: Inquiry) -> Replies:
    return Replies(answers=tuple(("This",) for _ in inquiry.questions), by="test")


async def _reviewed(_child: Holdfast, prompt: str) -> str:
    return f"done: {prompt}"


def _profile_with(tool: str) -> str:
    for name in ("code", "host", "managed"):
        sets = PROFILES[name].toolsets or ()
        if any(tool == one.name for toolset in sets for one in TOOLSETS[toolset]):
            return name
    raise LookupError(f"no profile has {tool}")


def _furnish(workspace: Path) -> None:
    skill = workspace / ".agents" / "skills" / "greeting"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(
        "---\nname: greeting\ndescription: How to greet.\n---\nSay hello.\n", "utf-8"
    )
    outside = workspace.parent / OUTSIDE
    outside.mkdir()
    for project in (workspace, outside):
        (project / "src").mkdir()
        (project / "src" / "app.py").write_text("def add(a, b):\n    return a + b\n", "utf-8")
        (project / "README.md").write_text("# A project\n\nIt adds.\n", "utf-8")
        Image.new("RGB", (8, 8), "red").save(project / "picture.png")
    (workspace / "link_to_outside").symlink_to(outside)
    documents = [{"title": "Tides", "url": "https://example.com/tides", "text": "High at noon."}]
    (workspace.parent / "index.json").write_text(json.dumps(documents), "utf-8")
