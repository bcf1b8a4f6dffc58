"""Whether a call may run: capabilities, rules, watchdog, in this order; a refusal ends it.

The decision is a value with its grounds. A judge remembers what a person answered for this session
and for this project; without a person every question is a refusal. How a path is looked up and how
a rule is weighed is not known here.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

import msgspec
from anyio import to_thread

from holdfast.contract.agents import AgentManifest
from holdfast.contract.call import Ask, Deny, Permit, Prepared, Verdict
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import Answer, GrantStore
from holdfast.contract.rules import Rule, Use
from holdfast.contract.tool import PERSON_NAMES, Tool
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Inspection, Opinion
from holdfast.policy import explain, offers, words
from holdfast.policy.bounds import Bounds
from holdfast.policy.globs import LONGEST_PATTERN
from holdfast.policy.grants import granted_by
from holdfast.policy.powers import AgentRules, Capabilities, Considered, Looked, Powers
from holdfast.policy.rules import Weighed, strictest
from holdfast.policy.scales import Scales
from holdfast.policy.uses import NO_CAPABILITY, argument_uses, declared_uses
from holdfast.policy.watchdog import Watchdog

_log = logging.getLogger("holdfast")


class PolicyJudge:
    """Judges the calls of one session."""

    def __init__(self, powers: Powers, grants: GrantStore, now: Callable[[], datetime]) -> None:
        self._powers = powers
        self._grants = grants
        self._now = now
        answered = powers.answered
        self._answered = not powers.headless if answered is None else answered
        self._kept = grants.load()
        self._given: list[Rule] = []
        self._scales = self._compiled()
        self.bounds = Bounds(self._scales)
        """What the rules say of what calls come upon."""
        self._declared: dict[str, list[Use]] = {}
        self._fixed: dict[str, Considered] = {}
        self._quick: dict[str, str] = {}
        """The grounds on which every call of a tool is permitted, whatever its arguments."""
        self._watchdogs: dict[Capabilities, Watchdog] = {}

    def _compiled(self) -> Scales:
        rules = [*self._powers.own.rules, *self._kept, *self._given]
        return Scales(self._powers, rules)

    def __call__(self, prepared: Prepared, /) -> Verdict | Awaitable[Verdict]:
        """Decide."""
        tool = prepared.tool
        if tool.name in PERSON_NAMES and not self._answered:
            return Deny(prepared=prepared, kind=FailureKind.REJECTED, reason=words.NO_ANSWERS)
        quick = self._quick.get(tool.name)
        if quick is not None:
            return Permit(prepared=prepared, grounds=quick)
        considered = self.consider(prepared)
        return self._judged(prepared, considered, headless=self._powers.headless)

    async def explain(self, prepared: Prepared) -> "explain.Explanation":
        """Tell step by step how the call is judged where a person is present. Nobody is asked."""
        considered = self.consider(prepared)
        judged = self._judged(prepared, considered, headless=False)
        verdict = judged if isinstance(judged, Permit | Ask | Deny) else await judged
        lifted = _lifted(self._scales, prepared.tool, considered)
        return explain.explained(prepared, considered, verdict, lifted)

    def _judged(
        self, prepared: Prepared, considered: Considered, *, headless: bool
    ) -> Verdict | Awaitable[Verdict]:
        tool = prepared.tool
        if considered.refusal is not None:
            reason = words.refused(tool.name, considered.refusal)
            return Deny(prepared=prepared, kind=FailureKind.REJECTED, reason=reason)
        worst = strictest(considered.weighed)
        if worst.action == "deny":
            reason = words.denied(tool.name, worst)
            return Deny(prepared=prepared, kind=FailureKind.REJECTED, reason=reason)
        watchdog = self._watchdog(considered.capabilities)
        if not watchdog:
            if worst.action == "ask" or tool.always_asks(prepared.arguments):
                return self._concluded(prepared, considered, NOTHING_AGAINST_IT, headless=headless)
            permit = _permitted(prepared, considered, self.bounds)
            if not _looks_at_arguments(tool):
                self._quick[tool.name] = permit.grounds
            return permit
        opinion = watchdog.consult(self.inspection(prepared, considered))
        if isinstance(opinion, Opinion):
            return self._concluded(prepared, considered, opinion, headless=headless)
        return self._waited(prepared, considered, opinion, headless=headless)

    def _watchdog(self, capabilities: Capabilities) -> Watchdog:
        """The hooks that a call with these concerns."""
        found = self._watchdogs.get(capabilities)
        if found is None:
            several = isinstance(capabilities, frozenset)
            used = capabilities if several else frozenset({capabilities})
            found = self._watchdogs[capabilities] = self._powers.watchdog.about(used)
        return found

    async def _waited(
        self,
        prepared: Prepared,
        considered: Considered,
        opinion: Awaitable[Opinion],
        *,
        headless: bool,
    ) -> Verdict:
        return self._concluded(prepared, considered, await opinion, headless=headless)

    def consider(self, prepared: Prepared) -> Considered:
        """Find out what the call does, whether it is within reach, and what the rules say."""
        tool = prepared.tool
        declared = self._declared.get(tool.name)
        if declared is None:
            declared = self._declared[tool.name] = list(declared_uses(tool))
        if tool.uses or tool.uses_of is not None:
            named = argument_uses(tool, prepared.arguments)
            if not isinstance(named, list):
                return Considered([Looked(named.use, named.reason)], [], named.reason)
            return self._found_out(tool, named + declared or [NO_CAPABILITY])
        # Its arguments decide nothing: one answer for all calls, until the rules change.
        fixed = self._fixed.get(tool.name)
        if fixed is None:
            fixed = self._fixed[tool.name] = self._found_out(tool, declared or [NO_CAPABILITY])
        return fixed

    def _found_out(self, tool: Tool, uses: list[Use]) -> Considered:
        look = self._powers.look
        looked = [look(tool, use) for use in uses]
        for one in looked:
            if one.refusal is not None:
                return Considered(looked, [], one.refusal)
        return Considered(looked, self._scales.weigh_all(tool, looked))

    def inspection(self, prepared: Prepared, considered: Considered) -> Inspection:
        """What the watchdog is shown."""
        manifest = self._powers.manifest
        return Inspection(prepared=prepared, manifest=manifest, uses=considered.uses)

    def _concluded(
        self, prepared: Prepared, considered: Considered, opinion: Opinion, *, headless: bool
    ) -> Verdict:
        """Put rules, watchdog and the tool's own policy together: at most one question."""
        tool = prepared.tool
        if opinion.verdict == "deny":
            reason = words.refused(tool.name, opinion.reason)
            return Deny(prepared=prepared, kind=FailureKind.REJECTED, reason=reason)
        asked = [one for one in considered.weighed if one.action == "ask"]
        reasons = words.questions(tool.name, asked)
        watched = opinion.verdict == "ask" and not offers.answers_the_watchdog(considered.weighed)
        if watched:
            reasons.append(opinion.reason)
        always = tool.always_asks(prepared.arguments)
        if always:
            reasons[:0] = words.always_asked(prepared)
        if not reasons:
            return _permitted(prepared, considered, self.bounds)
        if not watched and not always:
            reasons += _about_doubts(
                self._powers, self._scales, tool, considered, headless=headless
            )
        if headless:
            return Deny(
                prepared=prepared,
                kind=FailureKind.REJECTED,
                reason=words.NOBODY_TO_ASK,
                why=" ".join(dict.fromkeys(reasons)),
            )
        # A hook asks about the call as a whole.
        in_question = considered.uses if watched or not asked else tuple([one.use for one in asked])
        ask = Ask(prepared=prepared, reason=" ".join(dict.fromkeys(reasons)), uses=in_question)
        return offers.made(ask, considered, self._scales, self._now(), watched=watched)

    async def answered(self, ask: Ask, answer: Answer | None, /) -> Permit | Deny:
        """What becomes of a question, and what is remembered of the answer."""
        prepared, tool = ask.prepared, ask.prepared.tool
        if answer is None:
            return Deny(
                prepared=prepared,
                kind=FailureKind.REJECTED,
                reason=words.NOBODY_TO_ASK,
                why=ask.reason,
            )
        if answer.remember in ask.offers:
            await self._remember(granted_by(ask, answer, self._now()))
        if answer.allowed is True:
            self.bounds.agree(prepared, ask.uses or self.consider(prepared).uses)
            return Permit(prepared=prepared, grounds=f"approved by {answer.by}")
        word = words.user_denied
        if tool.always_asks(prepared.arguments):
            word = words.confirmation_denied
        reason = word(tool.name, answer.note)
        return Deny(
            prepared=prepared,
            kind=FailureKind.USER_DENIED,
            reason=reason,
            note=answer.note or None,
        )

    async def _remember(self, rules: Sequence[Rule]) -> None:
        if not rules:
            return
        if rules[0].scope == "project":
            try:
                await to_thread.run_sync(self._grants.add, rules)
            except (OSError, ValueError) as problem:
                _log.warning("an answer could not be kept (%s); it holds for this session", problem)
                rules = [msgspec.structs.replace(rule, scope="session") for rule in rules]
        self._given += rules
        self._scales = self.bounds.scales = self._compiled()
        self._fixed.clear()
        self._quick.clear()

    def tools_changed(self, manifest: AgentManifest) -> None:
        """Tools were declared anew: nothing that was found out about them counts any more."""
        self._powers = msgspec.structs.replace(self._powers, manifest=manifest)
        for known in (self._declared, self._fixed, self._quick):
            known.clear()

    @property
    def as_parent(self) -> tuple[AgentRules, ...]:
        """What agents below never exceed: what counts here now, and what stands above."""
        own = self._powers.own
        rules = (*own.rules, *self._kept, *self._given)
        return (AgentRules(rules=rules, standing=own.standing), *self._powers.parents)

    @property
    def session_rules(self) -> tuple[Rule, ...]:
        """What was answered for this session alone."""
        return tuple(rule for rule in self._given if rule.scope == "session")


def _looks_at_arguments(tool: Tool) -> bool:
    """Whether anything of the decision over a call hangs on its arguments."""
    return bool(tool.uses) or tool.uses_of is not None or tool.asks_for is not None


def _lifted(scales: Scales, tool: Tool, considered: Considered) -> list[bool]:
    """Of each use, whether a rule that fits it exactly would allow it, as far as rules go."""
    rules = [explain.exact_allow(tool.name, one.use) for one in considered.looked]
    wider = scales.with_more([rule for rule in rules if len(rule.pattern) <= LONGEST_PATTERN])
    return [wider.weigh(tool, one).action == "allow" for one in considered.looked]


def _about_doubts(
    powers: Powers, scales: Scales, tool: Tool, considered: Considered, *, headless: bool
) -> list[str]:
    """What helps whoever meets nothing but doubts: a model that is alone, or who configures."""
    if any(one.action == "ask" and one.use.doubt is None for one in considered.weighed):
        return []
    if headless:
        return [words.PLAINER]
    setting = powers.doubts_setting
    if setting is None:
        return []
    confined = scales.with_doubts_let_run().weigh_all(tool, considered.looked)
    return [words.confined(setting)] if strictest(confined).action == "allow" else []


def _permitted(prepared: Prepared, considered: Considered, bounds: Bounds) -> Permit:
    if any(one.rule is not None and one.rule.remembered for one in considered.weighed):
        bounds.agree(prepared, considered.uses)
    return Permit(prepared=prepared, grounds=_grounds(considered.weighed))


def _grounds(weighed: Sequence[Weighed]) -> str:
    if len(weighed) == 1:
        return words.grounds((weighed[0].rule,), (weighed[0].vouched,))
    deciding = tuple([one.rule for one in weighed])
    return words.grounds(deciding, tuple([one.vouched for one in weighed]))
