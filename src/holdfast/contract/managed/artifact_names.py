"""What is shown of a session to its own hand: the names of the files, by what they show."""

from collections.abc import Mapping

ARTIFACTS_FOLDER = ".holdfast-runtime"
"""In the workspace; each session has a folder in it that is called as the session."""
ARTIFACTS: Mapping[str, tuple[str, ...]] = {
    "session_runtime": ("session-runtime.json", "session-runtime.md"),
    "managed_tools": ("managed-tools.json",),
    "permissions": ("permissions.json", "permissions.md"),
    "permission_posture": ("permission-posture.json", "permission-posture.md"),
    "environment": ("environment.json",),
    "agent_setup": ("agent-setup.json", "agent-setup.md"),
    "skills": ("skills.json",),
    "vaults": ("vaults.json",),
    "context_budget": ("context-budget.json", "context-budget.md"),
    "session_status": ("session-status.json",),
    "outcome": ("outcome.json",),
    "outcome_grade": ("outcome-grade.json", "outcome-grade.md"),
    "outcome_repair": ("outcome-repair.md",),
    "outcome_evaluation": ("outcome-evaluation.json", "outcome-evaluation.md"),
    "outcome_evaluations": ("outcome-evaluations.json", "outcome-evaluations.md"),
    "event_feed": ("event-feed.json", "event-feed.md"),
    "wake_traces": ("wake-traces.json",),
    "session_relations": ("session-relations.json",),
    "shell_state": ("shell-state.json",),
    "shell_history": ("shell-history.json", "shell-history.md"),
    "shell_last_output": ("shell-last-output.json", "shell-last-output.md"),
    "staged_substrate": ("staged-substrate.json",),
}
"""Each is written as a whole, and never read again by holdfast."""
