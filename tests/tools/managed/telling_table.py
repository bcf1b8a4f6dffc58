"""Managed tools that tell, remember and give work away: what they take and refuse, as data."""

from tools.managed.tool_rows import ANY_SESSION, Arguments, Row, invalid, rejected

FILTERS: Arguments = {
    "status": "idle",
    "has_outcome": True,
    "outcome_status": "not_ready",
    "outcome_trend": "first_iteration",
    "promotion_ready": False,
    "active_minutes": 60,
}

SESSIONS: dict[str, Row] = {
    "session_list": Row(
        ({}, {"include_current": False, "limit": 1, "lineage": "children"}, FILTERS),
        (
            invalid("limit", limit=0),
            invalid("lineage", lineage="cousins"),
            invalid("active_minutes", active_minutes=0),
            invalid("outcome_status", outcome_status="done"),
        ),
    ),
    "session_list_children": Row(
        ({}, {"session_id": "$second", "limit": 2}, FILTERS),
        (invalid("status", status="asleep"), invalid("outcome_trend", outcome_trend="up")),
    ),
    "session_get_snapshot": Row(ANY_SESSION, (invalid("session_id", session_id=5.5),)),
    "session_describe_context": Row(ANY_SESSION, (invalid("session_id", session_id=[]),)),
    "session_get_events": Row(
        (
            *ANY_SESSION,
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
        (invalid("limit", limit=0), invalid("types", types="user.message, agent")),
    ),
    "session_get_trace": Row(
        (
            {"wake_id": "$wake", "session_id": "$second"},
            {"wake_id": "$wake", "types": ["agent.message"], "limit": 1},
        ),
        (
            invalid("wake_id"),
            invalid("wake_id", wake_id=" "),
            invalid("limit", wake_id="$wake", limit=-1),
        ),
    ),
    "session_list_traces": Row(
        ({}, {"session_id": "$second", "limit": 1}), (invalid("limit", limit="many"),)
    ),
    "session_delegate": Row(
        (
            {"message": "Look at it."},
            {"message": "Look.", "title": "A look", "detail": "All.", "success_criteria": ["seen"]},
        ),
        (
            invalid("message"),
            invalid("message", message=" "),
            invalid("title", message="Look.", detail="All of it."),
        ),
    ),
    "session_run_child": Row(
        ({"session_id": "$child"}, {"session_id": "$child", "max_cycles": 1}),
        (
            invalid("session_id"),
            invalid("session_id", session_id=""),
            invalid("max_cycles", session_id="$child", max_cycles=0),
            rejected(None, session_id="$second"),
        ),
    ),
}

OUTCOMES: dict[str, Row] = {
    "outcome_read": Row(ANY_SESSION, (invalid("session_id", session_id={}),)),
    "outcome_grade": Row(ANY_SESSION, (invalid("session_id", session_id={}),)),
    "outcome_evaluate": Row(ANY_SESSION, (invalid("session_id", session_id={}),)),
    "outcome_history": Row((*ANY_SESSION, {"limit": 1}), (invalid("limit", limit=0),)),
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
        (invalid("title"), invalid("title", title=" ", success_criteria=["x"])),
    ),
}

PERMISSIONS: dict[str, Row] = {
    "permissions_describe": Row(({},), (invalid("session", session="$second"),)),
    "permissions_check": Row(
        (
            {"tool_name": "shell_run", "tool_args": {"command": "cat guide.md"}},
            {"tool_name": "memory_promote_note"},
            {"tool_name": "shell_fly"},
        ),
        (invalid("tool_name"), invalid("tool_name", tool_name=" ")),
    ),
}

MEMORY: dict[str, Row] = {
    "memory_list": Row(({},), (invalid("target", target="checkpoint"),)),
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
        (invalid("target"), invalid("target", target="elsewhere")),
    ),
    "memory_write": Row(
        (
            {"target": "session_state", "content": "New.", "expected_version_id": "$version"},
            {"target": "session_state", "content": "Half is done."},
            {"target": "working_buffer", "content": "More.", "mode": "append"},
            {"target": "working_buffer", "content": "For it.", "session_id": "$second"},
        ),
        (
            invalid("target", content="x"),
            invalid("target", target="checkpoint", content="x"),
            invalid("content", target="session_state", content=" "),
            invalid("mode", target="session_state", content="x", mode="prepend"),
            invalid(
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
            invalid("content", content=" "),
            invalid("expected_version_id", content="x", expected_version_id="ver_none"),
            rejected(None, content="x", require_outcome_pass=True),
        ),
    ),
    "memory_list_versions": Row(
        (
            {"target": "session_state", "limit": 1},
            {"target": "working_buffer", "session_id": "$second"},
            {"target": "workspace_memory_notes"},
        ),
        (
            invalid("target", target="checkpoint"),
            invalid("limit", target="session_state", limit=0),
        ),
    ),
    "memory_read_version": Row(
        ({"target": "session_state", "version_id": "$version"},),
        (
            invalid("version_id", target="session_state", version_id=" "),
            invalid("version_id", target="session_state", version_id="ver_none"),
            invalid("version_id", target="working_buffer", version_id="$version"),
        ),
    ),
    "learning_list": Row(({}, {"limit": 1}), (invalid("limit", limit=0),)),
}

_BLANK = (invalid("query"), invalid("query", query=" "), invalid("limit", query="x", limit=0))

RETRIEVAL: dict[str, Row] = {
    "memory_search": Row(
        ({"query": "till"}, {"query": "till", "limit": 1, "lineage": "related"}),
        (*_BLANK, invalid("lineage", query="x", lineage="cousins")),
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
        (*_BLANK, invalid("backends[0]", query="x", backends=["guessing"])),
    ),
}

SKILLS: dict[str, Row] = {
    "skills_list": Row(({},), (invalid("name", name="build"),)),
    "skills_search": Row(({"query": "build"}, {"query": "build", "limit": 1}), _BLANK),
    "skills_read": Row(
        ({"name": "build"}, {"name": "build", "max_chars": 3}),
        (
            invalid("name", name=" "),
            invalid("name", name="fly"),
            invalid("max_chars", name="build", max_chars=0),
        ),
    ),
}
