"""Managed tools for the shell, the hand, shared files and the setup: what they take and refuse."""

from tools.managed.tool_rows import ANY_SESSION, Arguments, Row, invalid, missing, rejected, stale

_SHELL: tuple[Arguments, ...] = ({}, {"session_id": "$here"}, {"session_id": "$second"})

_COMMANDS = (
    invalid("command"),
    invalid("command", command=" "),
    invalid("timeout_ms", command="ls", timeout_ms=0),
    invalid("max_output_chars", command="ls", max_output_chars=0),
    missing("cwd", command="ls", cwd="nowhere"),
)

SHELL: dict[str, Row] = {
    "shell_describe": Row(_SHELL, (invalid("session_id", session_id=[]),)),
    "shell_history": Row((*_SHELL, {"limit": 1}), (invalid("limit", limit=0),)),
    "shell_read_last_output": Row(_SHELL, (invalid("session_id", session_id=[]),)),
    "shell_read_command": Row(
        ({"command_id": "$command"}, {"command_id": "none", "session_id": "$second"}),
        (invalid("command_id"), invalid("command_id", command_id=" ")),
    ),
    "shell_wait": Row(({}, {"timeout_ms": 1}), (invalid("timeout_ms", timeout_ms=0),)),
    "shell_set_cwd": Row(
        ({"path": "src"}, {"path": "."}),
        (invalid("path", path=" "), missing("path", path="nowhere")),
    ),
    "shell_set_env": Row(
        ({"key": "COLOUR", "value": "red"},),
        (
            invalid("key", key=" ", value="x"),
            invalid("key", key="a-b", value="x"),
            rejected("key", key="PATH", value="x"),
            invalid("value", key="COLOUR", value=" "),
        ),
    ),
    "shell_unset_env": Row(
        ({"key": "COLOUR"},), (invalid("key", key=" "), rejected("key", key="LANG"))
    ),
    "shell_open": Row(
        ({}, {"cwd": "src", "restart": True}),
        (missing("cwd", cwd="nowhere"), invalid("restart", restart="maybe")),
    ),
    "shell_restart": Row(({}, {"cwd": "src"}), (missing("cwd", cwd="nowhere"),)),
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
    "shell_close": Row(({},), (invalid("force", force=True),)),
}

SANDBOX: dict[str, Row] = {
    "sandbox_describe": Row(({},), (invalid("name", name="inspect"),)),
    "sandbox_execute": Row(
        (
            {"name": "inspect"},
            {"name": "list_dir", "input": {"path": "src"}},
            {"name": "write_text", "input": {"path": "new.txt", "content": "n"}},
            {"name": "run_command", "input": {"command": "ls src"}},
            {"name": "stat", "input": {"path": "nowhere"}},
        ),
        (
            invalid("name"),
            invalid("name", name=" "),
            invalid("name", name="fly"),
            invalid("input.path", name="stat", input={}),
            invalid("input.far", name="stat", input={"path": "src", "far": 1}),
        ),
    ),
}

RESOURCES: dict[str, Row] = {
    "resources_list": Row(({},), (invalid("kind", kind="vault"),)),
    "resources_stage_from_substrate": Row(
        (
            {"source_path": "guide.md", "target_path": "drafts/guide.md"},
            {"source_path": "guide.md", "overwrite": True},
        ),
        (
            invalid("source_path", source_path=" "),
            missing("source_path", source_path="nowhere.md"),
        ),
    ),
    "resources_list_staged_drafts": Row(({},), (invalid("limit", limit=1),)),
    "resources_list_versions": Row(
        ({"target_path": "guide.md"}, {"target_path": "guide.md", "limit": 1}),
        (invalid("target_path", target_path=" "), invalid("limit", target_path="a", limit=0)),
    ),
    "resources_read_version": Row(
        ({"version_id": "$shared_version"},),
        (invalid("version_id", version_id=" "), missing("version_id", version_id="ver_none")),
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
            invalid("session_path", session_path=" "),
            missing("session_path", session_path="nowhere.md"),
            invalid("max_preview_lines", session_path="guide.md", max_preview_lines=0),
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
            invalid("source_path", source_path=" "),
            missing("source_path", source_path="nowhere.md"),
            invalid("overwrite", source_path="guide.md"),
            rejected(None, source_path="src/a.py", require_outcome_pass=True),
            stale(
                source_path="guide.md",
                overwrite=True,
                expected_version_id="ver_none",
            ),
            stale(
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
            invalid("version_id", version_id=" "),
            missing("version_id", version_id="ver_none"),
            rejected(None, version_id="$shared_version", require_outcome_pass=True),
            stale(
                version_id="$shared_version",
                expected_version_id="ver_none",
            ),
            stale(
                version_id="$shared_version",
                expected_content_hash="0",
            ),
        ),
    ),
}

SETUP: dict[str, Row] = {
    "environment_describe": Row(({},), (invalid("name", name="x"),)),
    "agent_describe_setup": Row(ANY_SESSION, (invalid("session_id", session_id=[]),)),
    "agent_compare_setup": Row(ANY_SESSION, (invalid("session_id", session_id=[]),)),
    "vault_list": Row(({},), (invalid("name", name="keys"),)),
}
