"""What stands behind the tools of `tools/managed/skills`, put together for one session."""

from holdfast.app.managed.basis import Basis
from holdfast.contract.managed.skills import SkillBook
from holdfast.contract.runtime import Ports
from holdfast.runtime.managed.skill_book import ListedSkills


def ports_of(basis: Basis) -> Ports:
    """By port, what each call is handed."""
    shown = basis.artifacts
    artifact = None if shown is None else shown.paths("skills")[0]
    skills = ListedSkills(basis.parts.skills, artifact)
    return {SkillBook: lambda _call: skills}
