"""What the agents of these stories do: mend a till that is shared, and look for that later."""

from collections.abc import Generator
from typing import Any

from managed_story.telling import Came, Do, Part, Story, do, surely

KEY = "sk-till-4711-0815-secret"
"""Registered as a secret in the environment of the program; whatever shows it is wrong."""
BEGIN, ASKS, LOOKS, FEELS = "Mend the till.", "What of the till?", "Look it over.", "Feel it."
GO_ON, DONE, NOT_YET = "Go on.", "All is done.", "Not yet."
OUTCOME: dict[str, Any] = {
    "title": "The till adds up",
    "success_criteria": ['The checks end with "both tills add up"'],
}
BROKEN = "def total(coins):\n    return sum(coins[:-1])\n"
MENDED = "def total(coins):\n    return sum(coins)\n"
BETTER = MENDED.replace("    return", '    """In cents."""\n    return')
TESTS = """\
import unittest
from till import total
class Till(unittest.TestCase):
    def test_empty(self):
        self.assertEqual(total([]), 0)
    def test_full(self):
        self.assertEqual(total([1, 2]), 3)
"""
CHECK = 'python3 -m unittest -q test_till && echo "both tills" add up\n'
HELD = "held"
"""As long as this file is there, the command that counts goes on."""
COUNTED = f"echo ran >> ran.txt; while [ -e {HELD} ]; do sleep 0.02; done; sh check.sh"
NOTE = "Run check.sh before the till is shared."
TASK = {"title": "A look at the till", "success_criteria": ["the till was looked at"]}
LEARNED = (
    '<holdfast-session-loop>{"learnings": [{"title": "Coins", "detail": "Slices lose the last'
    ' coin.", "kind": "lesson", "promote_to_memory": true}]}</holdfast-session-loop>'
)


def mends() -> Story:
    """The outcome, the work, the refusal, the evidence, the pass; what is shared, and brought
    back; and children."""
    yield from surely(do("outcome_define", **OUTCOME))
    yield from surely(
        do("resources_stage_from_substrate", source_path="till.py"),
        do("resources_stage_from_substrate", source_path="till.py", overwrite=True),
    )
    yield from _written("test_till.py", TESTS)
    yield from _written("check.sh", CHECK)
    yield from surely(do("bash", command="cat key.txt"))
    yield from surely(do("shell_set_env", key="TILL_PLACE", value="north"))
    yield from surely(
        do("memory_write", target="session_state", content=f"The last coin is lost. {KEY}")
    )
    yield from surely(do("shell_exec", command="export TILL_OPEN=1; sh check.sh"))
    refused = yield from surely(
        do("resources_promote_to_substrate", source_path="till.py", overwrite=True)
    )
    step = refused.next_step
    yield from surely(Do(step["tool"], step["args"]))
    yield NOT_YET
    yield from _edited("coins[:-1]", "coins", MENDED)
    yield from _checked()
    yield f"The checks pass. {LEARNED}"
    yield from surely(do("memory_read", target="session_state"))
    yield from _shared_after_all()
    yield from _edited("    return", '    """In cents."""\n    return', BETTER)
    yield from _shared_after_all()
    yield from _brought_back()
    yield from _noted()
    yield from _handed_on()
    while True:
        yield DONE


def looks() -> Story:
    """A child that is run in place."""
    yield from surely(do("read", path="till.py"))
    yield from surely(do("session_list", lineage="parent"))
    while True:
        yield "The till was looked at: one function, total."


def feels() -> Story:
    """A child that is run when it is due."""
    while True:
        yield "It feels sound."


def asks() -> Story:
    """A later session looks for what was done, and reads each hit again as the hit says."""
    yield do("outcome_define", **OUTCOME)
    memory = yield do("memory_search", query="last coin", limit=4)
    context = yield do("session_search_context", query='"both tills add up"', limit=4)
    traces = yield do("session_search_traces", query="check.sh", limit=2)
    everywhere = yield do("retrieval_search", query='check.sh "both tills add up"', limit=4)
    for found in (memory, context, traces, everywhere):
        for hit in found.result["hits"]:
            yield Do(hit["expansion"]["tool"], hit["expansion"]["args"])
    for step in everywhere.result["expansion_plan"]:
        yield Do(step["tool"], step["args"])
    listed = yield do("session_list")
    for one in listed.result["sessions"]:
        yield do("outcome_history", session_id=one["session_id"])
        yield do("agent_compare_setup", session_id=one["session_id"])
    yield do("memory_read", target="workspace_memory")
    yield do("learning_list")
    while True:
        yield "That is all there is."


def _written(path: str, content: str) -> Story:
    came = yield do("write", path=path, content=content)
    while came.is_lost:
        yield do("glob", pattern=path)
        came = yield do("write", path=path, content=content)


def _edited(old: str, new: str, after: str) -> Story:
    """Whoever does not know whether it is done looks first."""
    came = yield do("edit", path="till.py", old_string=old, new_string=new)
    while came.is_lost:
        found = yield from surely(do("bash", command="cat till.py"))
        if found.result["stdout"] == after:
            return
        came = yield do("edit", path="till.py", old_string=old, new_string=new)


def _checked() -> Story:
    """The command that counts runs once; the checks alone may run again."""
    came = yield do("shell_run", command=COUNTED)
    while came.is_lost:
        there = yield from surely(do("glob", pattern="ran.txt"))
        ran = "ran.txt" in str(there.result)
        came = yield do("shell_run", command="sh check.sh" if ran else COUNTED)


def _compared() -> Part:
    return surely(do("resources_compare_with_substrate", session_path="till.py"))


def _shared_after_all() -> Story:
    """Share it, as soon as it may be, and unless it is."""
    while True:
        evaluated = yield from surely(do("outcome_evaluate"))
        found = (yield from _compared()).result
        if found["identical"]:
            return
        if not evaluated.result["evaluation"]["promotion_ready"]:
            yield NOT_YET
            continue
        yield do(
            "resources_promote_to_substrate",
            source_path="till.py",
            overwrite=True,
            **_precondition(found),
        )


def _precondition(found: Any) -> dict[str, Any]:
    kept = found["promote_precondition"]
    return {name: kept[name] for name in ("expected_version_id", "expected_content_hash")}


def _brought_back() -> Story:
    """The version that was promoted first is the newest again."""
    listed = yield from surely(do("resources_list_versions", target_path="till.py"))
    first = next(
        one["version_id"]
        for one in reversed(listed.result["versions"])
        if one["source"] == "resources_promote_to_substrate"
    )
    while True:
        found = (yield from _compared()).result
        newest = found["latest_version"]
        is_there = found["substrate_content_hash"] == newest["content_hash"]
        if is_there and newest.get("restored_from_version_id") == first:
            return
        came = yield do("resources_restore_version", version_id=first, **_precondition(found))
        if _is_refused(came):
            yield NOT_YET


def _noted() -> Story:
    """The note stands in what all sessions share, once."""
    while True:
        found = yield from surely(do("memory_read", target="workspace_memory_notes"))
        if NOTE in found.result["content"]:
            return
        came = yield do("memory_promote_note", content=NOTE)
        if _is_refused(came):
            yield NOT_YET


def _handed_on() -> Story:
    """One child is run here, and the other by whoever finds it due."""
    child = ""
    while not child:
        came = yield do("session_delegate", message=LOOKS, **TASK)
        if came.ok:
            child = came.result["child_session"]["session_id"]
            continue
        for one in (yield from _children()):
            child = one["session_id"]
    yield from surely(do("session_run_child", session_id=child))
    while len((yield from _children())) < 2:
        yield do("session_delegate", message=FEELS, title="A feeling")


def _children() -> Generator[Do | str, Came, list[Any]]:
    came = yield from surely(do("session_list_children"))
    found: list[Any] = came.result["sessions"]
    return found


def _is_refused(came: Came) -> bool:
    return "requires outcome_evaluate" in came.message
