"""Who came from whom: sessions as a graph. Where they are kept is not known here."""

from collections.abc import Iterable, Mapping

from holdfast.contract.chunks import Lineage
from holdfast.contract.json_value import encode_json
from holdfast.contract.transcript import Descendant

Edge = tuple[str, str]
"""A parent and its child."""


class LineageGraph:
    """The lineages of some sessions. A parent that is not among them is known by its id alone."""

    def __init__(self, sessions: Iterable[Descendant] = ()) -> None:
        self._lineages: dict[str, Lineage] = {}
        self._parents: dict[str, tuple[str, ...]] = {}
        self._children: dict[str, list[str]] = {}
        for session in sessions:
            self.add(session)

    def add(self, session: Descendant) -> None:
        """Add a session, or what is known of it by now; with other parents it is a ValueError."""
        parents = tuple(dict.fromkeys(session.lineage.parent_session_ids))
        if session.id in self._lineages and self._parents[session.id] != parents:
            raise ValueError(f"session {session.id} cannot have other parents than before")
        if session.id not in self._lineages:
            for parent in parents:
                self._parents.setdefault(parent, ())
                self._children.setdefault(parent, []).append(session.id)
        self._lineages[session.id] = session.lineage
        self._parents[session.id] = parents

    def ancestors(self, session_id: str) -> tuple[str, ...]:
        """All it came from, the nearest first."""
        return self._reached(session_id, self._parents)

    def descendants(self, session_id: str) -> tuple[str, ...]:
        """All that came from it, the nearest first."""
        return self._reached(session_id, self._children)

    def edges(self) -> tuple[Edge, ...]:
        """Every parent with every child of it."""
        return tuple((parent, child) for child in self._lineages for parent in self._parents[child])

    def is_acyclic(self) -> bool:
        """Whether no session is its own ancestor: true of all that holdfast made."""
        waiting = {session: len(parents) for session, parents in self._parents.items()}
        free = [session for session, count in waiting.items() if count == 0]
        for session in free:
            for child in self._children.get(session, ()):
                waiting[child] -= 1
                if waiting[child] == 0:
                    free.append(child)
        return len(free) == len(waiting)

    def to_jsonl(self) -> bytes:
        """One JSON object a line and a line for each session, in the order they were added."""
        return b"".join(
            encode_json(
                {
                    "session_id": session,
                    "parents": lineage.parent_session_ids,
                    "operator": lineage.operator,
                    "kind": lineage.kind,
                    "extras": lineage.extras,
                }
            )
            + b"\n"
            for session, lineage in self._lineages.items()
        )

    def _reached(
        self, start: str, next_to: Mapping[str, tuple[str, ...] | list[str]]
    ) -> tuple[str, ...]:
        if start not in self._parents:
            raise LookupError(f"session {start} is not in the graph; add it first")
        found = {start: None}
        order = [start]
        for session in order:
            for other in next_to.get(session, ()):
                if other not in found:
                    found[other] = None
                    order.append(other)
        return tuple(order[1:])
