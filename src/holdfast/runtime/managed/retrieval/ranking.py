"""How much what was found counts, in which order, and what of it is the same. Pure.

The same hits come out the same, whoever found them first.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from holdfast.contract.managed.retrieval import BackendName, Candidate, Piece, Relation, Source
from holdfast.contract.outcomes import Confidence
from holdfast.runtime.managed.retrieval.expanding import expansion_of
from holdfast.runtime.managed.retrieval.hits import Hit, Neighbour
from holdfast.runtime.managed.text_score import normal, query_of

SOURCE_BONUS: Mapping[Source, int] = {
    "learning": 5,
    "workspace_memory_notes": 4,
    "workspace_memory": 3,
    "session_evaluation": 3,
    "wake_trace": 3,
    "session_outcome": 2,
    "session_event": 2,
    "session_checkpoint": 1,
    "session_state": 0,
    "working_buffer": 0,
    "shell_state": 0,
}
SAME_SETUP = 2
SAME_TITLE, MOST_FOR_CRITERIA = 3, 2
_RELATION: Mapping[Relation, int] = {"parent": 2, "child": 2, "sibling": 1}
OF_NO_SESSION = frozenset[Source]({"learning", "workspace_memory", "workspace_memory_notes"})
"""What belongs to the agent, wherever it was learned."""
SURE, FAIR = 10, 6


class Goal(NamedTuple):
    """What the calling session is to achieve."""

    title: str | None = None
    criteria: tuple[str, ...] = ()


class Viewer(NamedTuple):
    """Who looks."""

    agent_id: str
    goal: Goal


class Merged(NamedTuple):
    """A candidate, and all that were found to be the same."""

    candidate: Candidate
    members: tuple[Candidate, ...]


def candidate_of(
    backend: BackendName, hit: Hit, neighbour: Neighbour | None, viewer: Viewer
) -> Candidate:
    """What was found, with all that counts for it."""
    session = None if hit.source in OF_NO_SESSION else neighbour
    reasons = [*hit.reasons]
    score = hit.points
    if bonus := SOURCE_BONUS[hit.source]:
        score += bonus
        reasons.append(f"source:{hit.source}")
    if session is not None:
        points, told = affinity(session, viewer.goal)
        score += points
        reasons += told
    found = Candidate(
        backend=backend,
        source=hit.source,
        agent_id=viewer.agent_id,
        session_id=hit.session_id,
        event_id=hit.event_id,
        wake_id=hit.wake_id,
        title=hit.title,
        snippet=hit.snippet,
        score=score,
        created_at=hit.created_at,
        reasons=tuple(reasons),
        confidence=confidence(1, score),
        evidence=(
            Piece(
                backend=backend,
                source=hit.source,
                score=score,
                event_id=hit.event_id,
                wake_id=hit.wake_id,
            ),
        ),
        expansion=expansion_of(hit, session),
    )
    return found if session is None else _told_of(found, session)


def _told_of(found: Candidate, neighbour: Neighbour) -> Candidate:
    return replace(
        found,
        setup_fingerprint=neighbour.setup_fingerprint,
        setup_match=neighbour.setup_match,
        session_relation=neighbour.relation,
        requires_action=neighbour.requires_action,
        pending_action_kind=neighbour.pending_kind,
        pending_action_tool_name=neighbour.pending_tool,
        outcome_status=neighbour.status,
        promotion_ready=neighbour.ready,
        outcome_trend=neighbour.trend,
    )


def affinity(neighbour: Neighbour, goal: Goal) -> tuple[int, list[str]]:
    """How close a session is to the calling one, and why; nothing is closer to itself."""
    points, reasons = 0, list[str]()
    if neighbour.setup_match:
        points += SAME_SETUP
        reasons.append("setup:same")
    if neighbour.is_current:
        return points, reasons
    for more, reason in _outcome_affinity(neighbour, goal):
        points += more
        reasons.append(reason)
    if neighbour.relation is not None:
        points += _RELATION[neighbour.relation]
        reasons.append(f"relation:{neighbour.relation}")
    return points, reasons


def _outcome_affinity(neighbour: Neighbour, goal: Goal) -> Iterable[tuple[int, str]]:
    title = normal(goal.title or "")
    if title and title == normal(neighbour.outcome_title or ""):
        yield SAME_TITLE, "outcome:same_title"
    shared = _words(goal.criteria) & _words(neighbour.criteria)
    if shared:
        yield min(len(shared), MOST_FOR_CRITERIA), "outcome:shared_criteria"


def _words(criteria: Sequence[str]) -> set[str]:
    return {word for one in criteria for word in query_of(one).terms}


def confidence(pieces: int, score: int) -> Confidence:
    """How sure it is that this is meant."""
    if pieces >= 2 or score >= SURE:
        return "high"
    return "medium" if score >= FAIR else "low"


def in_order(found: Iterable[Candidate]) -> list[Candidate]:
    """By score, by the same setup, by a relation, the newest first; what is alike by its names."""
    named = sorted(found, key=_names)
    newest = sorted(named, key=lambda one: one.created_at or "", reverse=True)
    return sorted(
        newest,
        key=lambda one: (-one.score, not one.setup_match, one.session_relation is None),
    )


def _names(one: Candidate) -> tuple[str, ...]:
    told = (one.session_id, one.wake_id, one.event_id, one.source, one.backend, one.title)
    return (*(name or "" for name in told), one.snippet)


def merged(found: Iterable[Candidate]) -> list[Merged]:
    """What is the same counts once, by run, by event or by what it says; in order.

    Its score is the best one, and one more for each further backend and source that found it.
    """
    ordered = in_order(found)
    groups: dict[str, list[Candidate]] = {}
    by_key: dict[str, str] = {}
    for one in ordered:
        keys = _keys(one)
        known = sorted({name for key in keys if (name := by_key.get(key)) is not None})
        name = known[0] if known else keys[0]
        group = groups.setdefault(name, [])
        for other in known[1:]:
            group += groups.pop(other)
        group.append(one)
        of_group = {key for member in group for key in _keys(member)}
        by_key.update(dict.fromkeys(of_group, name))
    put_together = [_one_of(in_order(group)) for group in groups.values()]
    by_name = {id(one.candidate): one for one in put_together}
    return [by_name[id(one)] for one in in_order(one.candidate for one in put_together)]


def _keys(one: Candidate) -> list[str]:
    keys = list[str]()
    if one.session_id is not None and one.wake_id is not None:
        keys.append(f"wake {one.session_id} {one.wake_id}")
    if one.session_id is not None and one.event_id is not None:
        keys.append(f"event {one.session_id} {one.event_id}")
    return keys or [f"content {normal(one.snippet)}"]


def _one_of(group: Sequence[Candidate]) -> Merged:
    best = group[0]
    pieces = tuple(dict.fromkeys(piece for one in group for piece in one.evidence))
    pairs = {(piece.backend, piece.source) for piece in pieces}
    score = best.score + len(pairs) - 1
    reasons = dict.fromkeys(reason for one in group for reason in one.reasons)
    candidate = replace(
        best,
        score=score,
        reasons=tuple(reasons),
        evidence=pieces,
        confidence=confidence(len(pieces), score),
    )
    return Merged(candidate, tuple(group))
