"""Who came from whom, also among sessions that nobody ever made."""

import json

import pytest
from flow_values import LINEAGES, TEXTS
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.chunks import Lineage
from holdfast.contract.transcript import Transcript
from holdfast.record.lineage_graph import LineageGraph
from holdfast.runtime.flow_session import Session


def _of(**parents: str) -> LineageGraph:
    """A graph of `child="its parents"`."""
    return LineageGraph(
        Transcript(child, lineage=Lineage(parent_session_ids=tuple(named.split())))
        for child, named in parents.items()
    )


#      a   b
#     / \ /
#    c   d
#     \ / \
#      e   f   (and g alone)
FAMILY = {"f": "d", "e": "c d", "d": "a b", "c": "a", "b": "", "a": "", "g": ""}


@pytest.mark.parametrize(
    ("session", "ancestors", "descendants"),
    [
        ("e", "c d a b", ""),
        ("f", "d a b", ""),
        ("d", "a b", "f e"),
        ("a", "", "d c f e"),
        ("g", "", ""),
    ],
)
def test_relatives_are_told_nearest_first(session: str, ancestors: str, descendants: str) -> None:
    graph = _of(**FAMILY)
    assert graph.ancestors(session) == tuple(ancestors.split())
    assert graph.descendants(session) == tuple(descendants.split())


def test_edges_are_pairs_of_parent_and_child() -> None:
    assert _of(**FAMILY).edges() == (
        *(("d", "f"), ("c", "e"), ("d", "e"), ("a", "d"), ("b", "d"), ("a", "c")),
    )
    assert _of(x="p p").edges() == (("p", "x"),), "merged with itself"


def test_a_parent_that_is_not_there_is_known_by_its_id() -> None:
    graph = _of(child="gone")
    assert graph.ancestors("child") == ("gone",)
    assert graph.descendants("gone") == ("child",)
    assert graph.is_acyclic()
    with pytest.raises(LookupError, match="stranger is not in the graph"):
        graph.ancestors("stranger")


@pytest.mark.parametrize(
    ("parents", "acyclic"),
    [
        (FAMILY, True),
        ({}, True),
        ({"a": "a"}, False),
        ({"a": "b", "b": "a"}, False),
        ({"a": "", "b": "a d", "c": "b", "d": "c"}, False),
        ({"a": "p p"}, True),
    ],
)
def test_a_circle_is_noticed(parents: dict[str, str], acyclic: bool) -> None:
    graph = _of(**parents)
    assert graph.is_acyclic() is acyclic
    for session in parents:
        assert session not in graph.ancestors(session), "and does not go round for ever"


def test_a_session_may_be_told_again_but_not_with_other_parents() -> None:
    circle = _of(a="", b="a b")
    circle.add(Transcript("b", lineage=Lineage(parent_session_ids=("a", "b"))))
    assert not circle.is_acyclic(), "what is told twice counts once"
    graph = _of(a="", b="a")
    noted = Lineage(parent_session_ids=("a",), extras=(("loop.truncated", True),))
    graph.add(Transcript("b", lineage=noted))
    assert graph.edges() == (("a", "b"),)
    assert graph.descendants("a") == ("b",)
    assert json.loads(graph.to_jsonl().splitlines()[1])["extras"] == [["loop.truncated", True]]
    with pytest.raises(ValueError, match="session b cannot have other parents"):
        graph.add(Transcript("b"))


def test_the_graph_of_real_sessions() -> None:
    first, second = Session.from_user_message("a"), Session.from_user_message("b")
    fork, alone = first.fork(), first.detach()
    merged = fork.merge(second)
    graph = LineageGraph([first, second, fork, alone, merged])
    assert graph.ancestors(merged.id) == (fork.id, second.id, first.id)
    assert graph.descendants(first.id) == (fork.id, merged.id)
    assert graph.ancestors(alone.id) == graph.descendants(alone.id) == ()
    assert graph.is_acyclic()


@given(st.dictionaries(TEXTS, LINEAGES, max_size=6))
def test_every_session_is_one_line_of_json(lineages: dict[str, Lineage]) -> None:
    sessions = [Transcript(name, lineage=lineage) for name, lineage in lineages.items()]
    written = LineageGraph(sessions).to_jsonl()
    lines = written.split(b"\n")
    assert lines.pop() == b""
    assert [json.loads(line) for line in lines] == [
        {
            "session_id": one.id,
            "parents": list(one.lineage.parent_session_ids),
            "operator": one.lineage.operator,
            "kind": one.lineage.kind,
            "extras": [list(pair) for pair in one.lineage.extras],
        }
        for one in sessions
    ]


PARENTS = st.dictionaries(
    st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=3).map(" ".join)
)


@given(PARENTS)
def test_ancestors_and_descendants_are_two_sides_of_the_edges(parents: dict[str, str]) -> None:
    graph = _of(**parents)
    edges = set(graph.edges())
    known = {*parents, *(parent for parent, _child in edges)}
    circles = False
    for one in known:
        above = _closure({parent for parent, child in edges if child == one}, edges)
        circles = circles or one in above
        assert set(graph.ancestors(one)) == above - {one}
        assert set(graph.descendants(one)) == {
            other for other in known if one in graph.ancestors(other)
        }
        assert len(set(graph.ancestors(one))) == len(graph.ancestors(one))
    assert graph.is_acyclic() is not circles


def _closure(found: set[str], edges: set[tuple[str, str]]) -> set[str]:
    while more := {parent for parent, child in edges if child in found} - found:
        found |= more
    return found
