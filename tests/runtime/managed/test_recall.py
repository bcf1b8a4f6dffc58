"""The skills that a run is reminded of when it begins."""

from holdfast.contract.skills import Skill
from holdfast.runtime.managed.recall import fitting_skills


def test_the_two_skills_that_fit_best_are_told_with_how_to_read_them() -> None:
    skills = [
        Skill(name=name, description=f"About {what}.", origin="f")
        for name, what in (("a", "tills"), ("b", "nothing"), ("c", "tills, sums"), ("d", "sums"))
    ]
    found = fitting_skills("tills sums", skills)
    assert [one.title for one in found] == ["c", "a"]
    assert (found[0].step.tool, found[0].step.args) == ("skills_read", {"name": "c"})
    assert fitting_skills("cats", skills) == ()
