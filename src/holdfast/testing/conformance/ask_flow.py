"""Cases that take a call through every layer, with what a person answers."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import cast

import anyio
import msgspec

from holdfast.contract.call import Ask, ToolCall
from holdfast.contract.envelope import Envelope
from holdfast.contract.json_value import JsonObject, JsonValue, encode_json
from holdfast.contract.ports import Answer
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.rules import Action, Rule, Use
from holdfast.contract.runtime import SessionFacts
from holdfast.contract.tool import ArgumentUse, Body, Tool
from holdfast.contract.watchdog import Hook, Inspection, Opinion
from holdfast.envelope.redact import Redactor
from holdfast.policy.judge import PolicyJudge
from holdfast.policy.powers import AgentRules, Looked, Powers
from holdfast.policy.watchdog import Watchdog
from holdfast.runtime.abort import Abort
from holdfast.runtime.catalog import Catalog, compiled
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.runtime.pipeline import Parts, Pipeline
from holdfast.testing.conformance.case import Case, part, text
from holdfast.testing.conformance.permissions import rules_in
from holdfast.testing.fakes import FakeGrants, FakeProgress, FakeSidecars

_REPLIES: dict[str, Answer] = {
    "once": Answer(allowed=True, by="person"),
    "always": Answer(allowed=True, by="person", remember="project"),
    "always_session": Answer(allowed=True, by="person", remember="session"),
    "reject": Answer(allowed=False, by="person"),
    "reject_always": Answer(allowed=False, by="person", remember="session"),
}
_ACP: dict[str, str] = {
    "allow_once": "once",
    "allow_always": "always_session",
    "reject_once": "reject",
    "reject_always": "reject_always",
}
_REFUSES_EVERYTHING: JsonObject = {"anyOf": [{"type": "null"}, {"type": "integer", "maximum": -1}]}


def check(case: Case) -> Iterator[str]:
    """Take the call, and those that follow it, and compare what happened."""
    yield from anyio.run(_played, case)


async def _played(case: Case) -> list[str]:
    stage = _Stage(case)
    problems = [*_compare(await stage.play(case), part(case, "expect"))]
    following = case.get("then", [])
    for number, step in enumerate(following if isinstance(following, list) else [], 1):
        if not isinstance(step, dict):
            raise TypeError("a following call must be an object")
        if step.get("new_session_same_project") or step.get("forked_session"):
            stage.new_session()
        happened = await stage.play({**case, "reply": None, **step})
        problems += [f"call {number} after it: {one}" for one in _compare(happened, step)]
    return problems


class _Happened(msgspec.Struct, frozen=True, kw_only=True):
    executed: bool
    prompts: int
    watchdog_called: bool
    envelope: Envelope
    added: list[JsonObject]


class _Stage:
    """One project, one session after the other."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._given = rules_in(case.get("rules", []))
        self._grants = FakeGrants()
        self._executed = self._prompts = self._watched = 0
        self._reply: JsonValue = None
        self._abort = Abort()
        self.new_session()

    def new_session(self) -> None:
        headless = self._case.get("headless") is True
        rules = tuple(self._given)
        if getattr(self, "_judge", None) is not None:
            rules = tuple(rule for rule in rules if rule.scope != "session")
        powers = Powers(
            own=AgentRules(rules=rules),
            look=self._look,
            watchdog=Watchdog([cast("Hook", self._hook)]),
            headless=headless,
        )
        self._judge = PolicyJudge(powers, self._grants, lambda: datetime.now(UTC))

    def _look(self, _tool: Tool, use: Use) -> Looked:
        within = self._case.get("capability_ok") is not False
        return Looked(use, None if within else "It is outside the declared capabilities.")

    def _hook(self, _inspection: Inspection) -> Opinion:
        self._watched += 1
        opinion = self._case.get("watchdog", "allow")
        if isinstance(opinion, dict):
            return Opinion("deny", text(opinion, "deny"))
        if opinion in {"raise", "raises"}:
            raise RuntimeError("the watchdog broke")
        return Opinion(cast("Action", opinion), "The watchdog wants a person to look at it.")

    async def _approve(self, _ask: Ask) -> Answer | None:
        self._prompts += 1
        reply = self._reply
        if isinstance(reply, dict) and reply.get("acp_outcome") == "cancelled":
            self._abort.set()
            await anyio.sleep_forever()
        name = _ACP.get(text(reply, "acp"), "reject") if isinstance(reply, dict) else reply
        return _REPLIES.get(str(name)) if name is not None else None

    async def play(self, step: Case) -> _Happened:
        self._executed = self._prompts = self._watched = 0
        self._reply = step.get("reply")
        self._abort = Abort()
        before = self._remembered()
        call = part(step, "call")
        tool = self._tool(call)
        parts = Parts(
            catalog=Catalog(built_in=[compiled(tool)]),
            judge=self._judge,
            approver=self._approve,
            clock=SystemClock(),
            ids=TimeIds(SystemClock()),
            sidecars=FakeSidecars(),
            redactor=Redactor(),
            session=SessionFacts(id="ses_case"),
            progress=FakeProgress(),
        )
        asked = ToolCall(
            id="cal_case",
            tool=tool.name,
            arguments=encode_json(call.get("args", {})),
            session_id="ses_case",
        )
        envelope = await Pipeline(parts).settle(asked, self._abort)
        added = [rule for rule in self._remembered() if rule not in before]
        return _Happened(
            executed=self._executed > 0,
            prompts=self._prompts,
            watchdog_called=self._watched > 0,
            envelope=envelope,
            added=[_shown(rule) for rule in added],
        )

    def _remembered(self) -> list[Rule]:
        return [*self._judge.session_rules, *self._grants.load()]

    def _tool(self, call: Case) -> Tool:
        arguments = call.get("args", {})
        names = [*arguments] if isinstance(arguments, dict) else []
        refuses = self._case.get("schema_ok") is False
        schema: JsonObject = {"type": "object"}
        if refuses:
            schema["properties"] = dict.fromkeys(names, _REFUSES_EVERYTHING)
        declared = call.get("capability")
        capabilities = declared if isinstance(declared, list) else [declared]
        target = call.get("target")
        bearer = next((name for name in names if cast("JsonObject", arguments)[name] == target), "")
        return Tool(
            name=text(call, "tool"),
            description=None,
            input_schema=schema,
            requires=NOTHING_REQUIRED,
            uses=tuple(
                ArgumentUse(argument=bearer, capability=name)
                for name in capabilities
                if isinstance(name, str)
            ),
            body=Body(style="inline", invoke=self._run),
        )

    def _run(self, *_given: object) -> str:
        self._executed += 1
        return "done"


def _shown(rule: Rule) -> JsonObject:
    return {
        "scope": rule.scope,
        "permission": rule.permission,
        "pattern": rule.pattern,
        "action": rule.action,
    }


def _compare(happened: _Happened, expect: Case) -> Iterator[str]:
    for key, found in (
        ("executed", happened.executed),
        ("prompts", happened.prompts),
        ("watchdog_called", happened.watchdog_called),
    ):
        wanted = expect.get(key)
        if wanted is not None and found != wanted:
            yield f"{key}: expected {wanted!r}, got {found!r}"
    kind = "output" if happened.envelope.ok else "error"
    if expect.get("result_type") not in {None, kind}:
        yield f"result_type: expected {expect['result_type']!r}, got {kind!r}"
    mentioned = expect.get("error_mentions")
    failure = happened.envelope.failure
    said = "" if failure is None else f"{failure.kind} {failure.message}"
    if isinstance(mentioned, str) and mentioned.lower() not in said.lower():
        yield f"error_mentions: expected {mentioned!r} in {said!r}"
    if "rule_added" in expect:
        wanted_rules = [] if expect["rule_added"] is None else [expect["rule_added"]]
        if happened.added != wanted_rules:
            yield f"rule_added: expected {wanted_rules!r}, got {happened.added!r}"
