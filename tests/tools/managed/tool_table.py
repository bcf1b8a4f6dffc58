"""What each managed tool takes and what it refuses, as data: the catalogue as it is documented.

A text that begins with `$` stands for something of the world that `standing.py` makes.
"""

from typing import Any, NamedTuple

from holdfast.contract.failure import FailureKind as Kind

Arguments = dict[str, Any]


class Refused(NamedTuple):
    """Arguments that have to be refused."""

    arguments: Arguments
    kind: Kind
    field: str | None


class Row(NamedTuple):
    """One tool."""

    good: tuple[Arguments, ...]
    bad: tuple[Refused, ...] = ()


def _invalid(field: str, /, **arguments: Any) -> Refused:
    return Refused(arguments, Kind.INVALID_ARGS, field)


def _rejected(field: str | None = None, /, **arguments: Any) -> Refused:
    return Refused(arguments, Kind.REJECTED, field)


def _stale(**arguments: Any) -> Refused:
    """Something else is shared than was expected: nothing is wrong with what was asked."""
    return Refused(arguments, Kind.EXECUTION_ERROR, None)


def _missing(field: str | None = None, /, **arguments: Any) -> Refused:
    return Refused(arguments, Kind.NOT_FOUND, field)


_FILTERS: Arguments = {
    "status": "idle",
    "has_outcome": True,
    "outcome_status": "not_ready",
    "outcome_trend": "first_iteration",
    "promotion_ready": False,
    "active_minutes": 60,
}
_ANY_SESSION: tuple[Arguments, ...] = ({}, {"session_id": "$second"}, {"session_id": "$child"})
_SHELL: tuple[Arguments, ...] = ({}, {"session_id": "$here"}, {"session_id": "$second"})

SESSIONS: dict[str, Row] = {
    "session_list": Row(
        ({}, {"include_current": False, "limit": 1, "lineage": "children"}, _FILTERS),
        (
            _invalid("limit", limit=0),
            _invalid("lineage", lineage="cousins"),
            _invalid("active_minutes", active_minutes=0),
            _invalid("outcome_status", outcome_status="done"),
        ),
    ),
    "session_list_children": Row(
        ({}, {"session_id": "$second", "limit": 2}, _FILTERS),
        (_invalid("status", status="asleep"), _invalid("outcome_trend", outcome_trend="up")),
    ),
    "session_get_snapshot": Row(_ANY_SESSION, (_invalid("session_id", session_id=5.5),)),
    "session_describe_context": Row(_ANY_SESSION, (_invalid("session_id", session_id=[]),)),
    "session_get_events": Row(
        (
            *_ANY_SESSION,
            {"session_id": "$second", "after_event_id": "$event", "types": ["agent.message"]},
            {"session_id": "$second", "before_event_id": "$event", "include_processed": False},
            {
                "session_id": "$second",
                "around_event_id": "$event",
                "before_limit": 2,
                "after_limit": 2,
            },
            {"session_id": "$second", "wake_id": "$wake", "limit": 3},
        ),
        (_invalid("limit", limit=0), _invalid("types", types="user.message, agent")),
    ),
    "session_get_trace": Row(
        (
            {"wake_id": "$wake", "session_id": "$second"},
            {"wake_id": "$wake", "types": ["agent.message"], "limit": 1},
        ),
        (
            _invalid("wake_id"),
            _invalid("wake_id", wake_id=" "),
            _invalid("limit", wake_id="$wake", limit=-1),
        ),
    ),
    "session_list_traces": Row(
        ({}, {"session_id": "$second", "limit": 1}), (_invalid("limit", limit="many"),)
    ),
    "session_delegate": Row(
        (
            {"message": "Look at it."},
            {"message": "Look.", "title": "A look", "detail": "All.", "success_criteria": ["seen"]},
        ),
        (
            _invalid("message"),
            _invalid("message", message=" "),
            _invalid("title", message="Look.", detail="All of it."),
        ),
    ),
    "session_run_child": Row(
        ({"session_id": "$child"}, {"session_id": "$child", "max_cycles": 1}),
        (
            _invalid("session_id"),
            _invalid("session_id", session_id=""),
            _invalid("max_cycles", session_id="$child", max_cycles=0),
            _rejected(None, session_id="$second"),
        ),
    ),
}

OUTCOMES: dict[str, Row] = {
    "outcome_read": Row(_ANY_SESSION, (_invalid("session_id", session_id={}),)),
    "outcome_grade": Row(_ANY_SESSION, (_invalid("session_id", session_id={}),)),
    "outcome_evaluate": Row(_ANY_SESSION, (_invalid("session_id", session_id={}),)),
    "outcome_history": Row((*_ANY_SESSION, {"limit": 1}), (_invalid("limit", limit=0),)),
    "outcome_define": Row(
        (
            {"title": "A guide"},
            {
                "title": "A guide",
                "detail": "Of it all.",
                "success_criteria": ["guide.md is written"],
                "session_id": "$second",
            },
        ),
        (_invalid("title"), _invalid("title", title=" ", success_criteria=["x"])),
    ),
}

PERMISSIONS: dict[str, Row] = {
    "permissions_describe": Row(({},), (_invalid("session", session="$second"),)),
    "permissions_check": Row(
        (
            {"tool_name": "shell_run", "tool_args": {"command": "cat guide.md"}},
            {"tool_name": "memory_promote_note"},
            {"tool_name": "shell_fly"},
        ),
        (_invalid("tool_name"), _invalid("tool_name", tool_name=" ")),
    ),
}

MEMORY: dict[str, Row] = {
    "memory_list": Row(({},), (_invalid("target", target="checkpoint"),)),
    "memory_read": Row(
        (
            *(
                {"target": target}
                for target in (
                    *("checkpoint", "shell_state", "session_state", "working_buffer"),
                    *("workspace_memory", "workspace_memory_notes"),
                )
            ),
            {"target": "checkpoint", "session_id": "$second"},
        ),
        (_invalid("target"), _invalid("target", target="elsewhere")),
    ),
    "memory_write": Row(
        (
            {"target": "session_state", "content": "New.", "expected_version_id": "$version"},
            {"target": "session_state", "content": "Half is done."},
            {"target": "working_buffer", "content": "More.", "mode": "append"},
            {"target": "working_buffer", "content": "For it.", "session_id": "$second"},
        ),
        (
            _invalid("target", content="x"),
            _invalid("target", target="checkpoint", content="x"),
            _invalid("content", target="session_state", content=" "),
            _invalid("mode", target="session_state", content="x", mode="prepend"),
            _invalid(
                *("expected_version_id",),
                target="session_state",
                content="x",
                expected_version_id="ver_none",
            ),
        ),
    ),
    "memory_promote_note": Row(
        (
            {"content": "Count twice."},
            {"content": "Thrice.", "mode": "append", "require_outcome_pass": False},
        ),
        (
            _invalid("content", content=" "),
            _invalid("expected_version_id", content="x", expected_version_id="ver_none"),
            _rejected(None, content="x", require_outcome_pass=True),
        ),
    ),
    "memory_list_versions": Row(
        (
            {"target": "session_state", "limit": 1},
            {"target": "working_buffer", "session_id": "$second"},
            {"target": "workspace_memory_notes"},
        ),
        (
            _invalid("target", target="checkpoint"),
            _invalid("limit", target="session_state", limit=0),
        ),
    ),
    "memory_read_version": Row(
        ({"target": "session_state", "version_id": "$version"},),
        (
            _invalid("version_id", target="session_state", version_id=" "),
            _invalid("version_id", target="session_state", version_id="ver_none"),
            _invalid("version_id", target="working_buffer", version_id="$version"),
        ),
    ),
    "learning_list": Row(({}, {"limit": 1}), (_invalid("limit", limit=0),)),
}

_BLANK = (_invalid("query"), _invalid("query", query=" "), _invalid("limit", query="x", limit=0))

RETRIEVAL: dict[str, Row] = {
    "memory_search": Row(
        ({"query": "till"}, {"query": "till", "limit": 1, "lineage": "related"}),
        (*_BLANK, _invalid("lineage", query="x", lineage="cousins")),
    ),
    "session_search_context": Row(
        (
            {"query": "till"},
            {"query": "till", "include_current": True, "types": ["user.message"], "limit": 2},
        ),
        _BLANK,
    ),
    "session_search_traces": Row(
        ({"query": "till"}, {"query": "till", "include_current": True, "lineage": "siblings"}),
        _BLANK,
    ),
    "retrieval_search": Row(
        (
            {"query": "till"},
            {"query": "till", "backends": ["memory", "session_trace"], "include_current": True},
        ),
        (*_BLANK, _invalid("backends[0]", query="x", backends=["guessing"])),
    ),
}

SKILLS: dict[str, Row] = {
    "skills_list": Row(({},), (_invalid("name", name="build"),)),
    "skills_search": Row(({"query": "build"}, {"query": "build", "limit": 1}), _BLANK),
    "skills_read": Row(
        ({"name": "build"}, {"name": "build", "max_chars": 3}),
        (
            _invalid("name", name=" "),
            _invalid("name", name="fly"),
            _invalid("max_chars", name="build", max_chars=0),
        ),
    ),
}

_COMMANDS = (
    _invalid("command"),
    _invalid("command", command=" "),
    _invalid("timeout_ms", command="ls", timeout_ms=0),
    _invalid("max_output_chars", command="ls", max_output_chars=0),
    _missing("cwd", command="ls", cwd="nowhere"),
)

SHELL: dict[str, Row] = {
    "shell_describe": Row(_SHELL, (_invalid("session_id", session_id=[]),)),
    "shell_history": Row((*_SHELL, {"limit": 1}), (_invalid("limit", limit=0),)),
    "shell_read_last_output": Row(_SHELL, (_invalid("session_id", session_id=[]),)),
    "shell_read_command": Row(
        ({"command_id": "$command"}, {"command_id": "none", "session_id": "$second"}),
        (_invalid("command_id"), _invalid("command_id", command_id=" ")),
    ),
    "shell_wait": Row(({}, {"timeout_ms": 1}), (_invalid("timeout_ms", timeout_ms=0),)),
    "shell_set_cwd": Row(
        ({"path": "src"}, {"path": "."}),
        (_invalid("path", path=" "), _missing("path", path="nowhere")),
    ),
    "shell_set_env": Row(
        ({"key": "COLOUR", "value": "red"},),
        (
            _invalid("key", key=" ", value="x"),
            _invalid("key", key="a-b", value="x"),
            _rejected("key", key="PATH", value="x"),
            _invalid("value", key="COLOUR", value=" "),
        ),
    ),
    "shell_unset_env": Row(
        ({"key": "COLOUR"},), (_invalid("key", key=" "), _rejected("key", key="LANG"))
    ),
    "shell_open": Row(
        ({}, {"cwd": "src", "restart": True}),
        (_missing("cwd", cwd="nowhere"), _invalid("restart", restart="maybe")),
    ),
    "shell_restart": Row(({}, {"cwd": "src"}), (_missing("cwd", cwd="nowhere"),)),
    "shell_run": Row(
        (
            {"command": "echo till > out.txt", "timeout_ms": 9000},
            {"command": "ls", "cwd": "src", "max_output_chars": 5},
        ),
        _COMMANDS,
    ),
    "shell_exec": Row(
        ({"command": "cd src", "cwd": "src"}, {"command": "pwd", "restart": True}), _COMMANDS
    ),
    "shell_close": Row(({},), (_invalid("force", force=True),)),
}

SANDBOX: dict[str, Row] = {
    "sandbox_describe": Row(({},), (_invalid("name", name="inspect"),)),
    "sandbox_execute": Row(
        (
            {"name": "inspect"},
            {"name": "list_dir", "input": {"path": "src"}},
            {"name": "write_text", "input": {"path": "new.txt", "content": "n"}},
            {"name": "run_command", "input": {"command": "ls src"}},
            {"name": "stat", "input": {"path": "nowhere"}},
        ),
        (
            _invalid("name"),
            _invalid("name", name=" "),
            _invalid("name", name="fly"),
            _invalid("input.path", name="stat", input={}),
            _invalid("input.far", name="stat", input={"path": "src", "far": 1}),
        ),
    ),
}

RESOURCES: dict[str, Row] = {
    "resources_list": Row(({},), (_invalid("kind", kind="vault"),)),
    "resources_stage_from_substrate": Row(
        (
            {"source_path": "guide.md", "target_path": "drafts/guide.md"},
            {"source_path": "guide.md", "overwrite": True},
        ),
        (
            _invalid("source_path", source_path=" "),
            _missing("source_path", source_path="nowhere.md"),
        ),
    ),
    "resources_list_staged_drafts": Row(({},), (_invalid("limit", limit=1),)),
    "resources_list_versions": Row(
        ({"target_path": "guide.md"}, {"target_path": "guide.md", "limit": 1}),
        (_invalid("target_path", target_path=" "), _invalid("limit", target_path="a", limit=0)),
    ),
    "resources_read_version": Row(
        ({"version_id": "$shared_version"},),
        (_invalid("version_id", version_id=" "), _missing("version_id", version_id="ver_none")),
    ),
    "resources_compare_with_substrate": Row(
        (
            {"session_path": "guide.md"},
            {
                "session_path": "src/a.py",
                "substrate_path": "guide.md",
                "max_preview_lines": 1,
            },
        ),
        (
            _invalid("session_path", session_path=" "),
            _missing("session_path", session_path="nowhere.md"),
            _invalid("max_preview_lines", session_path="guide.md", max_preview_lines=0),
        ),
    ),
    "resources_promote_to_substrate": Row(
        (
            {"source_path": "src/a.py", "target_path": "a.py"},
            {
                "source_path": "guide.md",
                "overwrite": True,
                "require_outcome_pass": False,
                "expected_version_id": "$shared_version",
            },
        ),
        (
            _invalid("source_path", source_path=" "),
            _missing("source_path", source_path="nowhere.md"),
            _invalid("overwrite", source_path="guide.md"),
            _rejected(None, source_path="src/a.py", require_outcome_pass=True),
            _stale(
                source_path="guide.md",
                overwrite=True,
                expected_version_id="ver_none",
            ),
            _stale(
                source_path="guide.md",
                overwrite=True,
                expected_content_hash="0",
            ),
        ),
    ),
    "resources_restore_version": Row(
        (
            {"version_id": "$shared_version", "expected_version_id": "$shared_version"},
            {"version_id": "$shared_version", "require_outcome_pass": False},
        ),
        (
            _invalid("version_id", version_id=" "),
            _missing("version_id", version_id="ver_none"),
            _rejected(None, version_id="$shared_version", require_outcome_pass=True),
            _stale(
                version_id="$shared_version",
                expected_version_id="ver_none",
            ),
            _stale(
                version_id="$shared_version",
                expected_content_hash="0",
            ),
        ),
    ),
}

SETUP: dict[str, Row] = {
    "environment_describe": Row(({},), (_invalid("name", name="x"),)),
    "agent_describe_setup": Row(_ANY_SESSION, (_invalid("session_id", session_id=[]),)),
    "agent_compare_setup": Row(_ANY_SESSION, (_invalid("session_id", session_id=[]),)),
    "vault_list": Row(({},), (_invalid("name", name="keys"),)),
}

TABLE: dict[str, Row] = {
    **SESSIONS,
    **OUTCOMES,
    **PERMISSIONS,
    **MEMORY,
    **RETRIEVAL,
    **SKILLS,
    **SHELL,
    **SANDBOX,
    **RESOURCES,
    **SETUP,
}
"""Every tool of the toolset `managed`."""
