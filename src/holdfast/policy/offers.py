"""What a person may answer beside yes and no: for how long it holds, and for what else.

Nothing is offered that would not do what it says: an answer that is remembered lets the same call
run the next time, and a wider one lets it run by itself. Neither outranks a deny, a pinned ask or a
rule that names the target more closely. What is remembered is made in `grants`.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from holdfast.contract.call import Ask
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Rule
from holdfast.policy.globs import is_open
from holdfast.policy.grants import granted_by, remembers
from holdfast.policy.powers import Considered
from holdfast.policy.prefixes import ANY_FILE, wider_patterns
from holdfast.policy.rules import Weighed, strictest
from holdfast.policy.scales import Scales

_YES = Answer(allowed=True, by="", remember="session", wider=True)


def made(ask: Ask, considered: Considered, scales: Scales, now: datetime, *, watched: bool) -> Ask:
    """The question with all that may be answered to it. ``watched``: the watchdog asks, too."""
    tool = ask.prepared.tool
    if tool.always_asks(ask.prepared.arguments) or not remembers(ask.uses):
        return ask
    weighed = _weighed_with(granted_by(ask, _YES, now), ask, considered, scales)
    if strictest(weighed).action != "allow" or (watched and not answers_the_watchdog(weighed)):
        return ask  # the same call would be asked about again
    offering = msgspec.structs.replace(ask, offers=("once", "session", "project"))
    if watched:
        return offering  # what the watchdog asks about is looked at each time
    wider = msgspec.structs.replace(offering, wider=wider_patterns(ask.uses))
    if wider.wider != (ANY_FILE,):
        return wider
    alone = [one for one in granted_by(wider, _YES, now) if one.pattern == ANY_FILE]
    found = strictest(_weighed_with(alone, ask, considered, scales))
    return wider if found.action == "allow" else offering


def answers_the_watchdog(weighed: Sequence[Weighed]) -> bool:
    """A person said so for this session or project; a manifest's allow is not a person."""
    return bool(weighed) and all(
        one.action == "allow" and one.rule is not None and _was_meant(one.rule) for one in weighed
    )


def _weighed_with(
    rules: Sequence[Rule], ask: Ask, considered: Considered, scales: Scales
) -> list[Weighed]:
    return scales.with_more(rules).weigh_all(ask.prepared.tool, considered.looked)


def _was_meant(rule: Rule) -> bool:
    """A rule somebody wrote, or an answer to exactly this: not one kept for all that begins so."""
    return rule.scope != "manifest" and not (rule.remembered and is_open(rule.pattern))
