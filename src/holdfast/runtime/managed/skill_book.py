"""Skills of a session: listed with a glimpse, found by words, read up to a length.

Where they lie and how they are read is not known here.
"""

from collections.abc import Callable
from pathlib import PurePath
from typing import NamedTuple

import msgspec

from holdfast.contract.errors import InvalidArguments, Unavailable
from holdfast.contract.managed.skills import (
    LONGEST_BODY,
    PREVIEW_CHARS,
    PREVIEW_LINES,
    SkillBody,
    SkillEntry,
    SkillHit,
    SkillHits,
    SkillList,
)
from holdfast.contract.skills import Skill, Skills
from holdfast.contract.steps import Step
from holdfast.contract.truncate import cut_text
from holdfast.runtime.managed.text_score import query_of, score

_FILE = "SKILL.md"


class _Place(NamedTuple):
    source: str
    base_dir: str


class ListedSkills:
    """Those that can be loaded."""

    def __init__(self, skills: Callable[[], Skills], artifact: str | None = None) -> None:
        """``skills``: looked for when somebody first asks; ``artifact``: where they are shown."""
        self._skills = skills
        self._artifact = artifact

    def all(self) -> SkillList:
        """All of them, by name."""
        found = tuple(
            SkillEntry(
                name=one.name,
                description=one.description,
                preview=self._preview(one),
                source=_place(one).source,
                next_step=_reading(one.name),
            )
            for one in self._known()
        )
        return SkillList(count=len(found), skills=found, artifact_path=self._artifact)

    def search(self, query: str, limit: int, /) -> SkillHits:
        """Those that fit, the best first, then by name."""
        wanted = query_of(query)
        scored = [
            (score(wanted, f"{one.name}\n{one.description}\n{_place(one).source}"), one)
            for one in self._known()
        ]
        best = sorted((one for one in scored if one[0].points), key=lambda one: -one[0].points)
        hits = tuple(
            SkillHit(
                name=one.name,
                description=one.description,
                preview=self._preview(one),
                source=_place(one).source,
                next_step=_reading(one.name),
                score=found.points,
                reasons=found.reasons,
                file_path=one.origin,
                base_dir=_place(one).base_dir,
            )
            for found, one in best[:limit]
        )
        return SkillHits(count=len(hits), hits=hits)

    def read(self, name: str, max_chars: int, /) -> SkillBody:
        """One of them, up to a length."""
        skill = next((one for one in self._known() if one.name == name), None)
        body = None if skill is None else self._skills().body(name)
        if skill is None or body is None:
            raise _no_skill(name)
        is_cut = len(body) > max_chars
        place = _place(skill)
        return SkillBody(
            name=skill.name,
            description=skill.description,
            source=place.source,
            file_path=skill.origin,
            base_dir=place.base_dir,
            content=body[:max_chars],
            truncated=is_cut,
            next_step=_reading(name, min(len(body), LONGEST_BODY)) if is_cut else None,
        )

    def _known(self) -> tuple[Skill, ...]:
        return tuple(sorted(self._skills().all(), key=lambda one: one.name))

    def _preview(self, skill: Skill) -> str:
        try:
            body = self._skills().body(skill.name)
        except Unavailable:
            return ""  # whoever reads it hears why
        return preview(body or "")


def preview(body: str) -> str:
    """The first lines that say something, in one."""
    lines = [line for line in (" ".join(one.split()) for one in body.splitlines()) if line]
    return cut_text(" ".join(lines[:PREVIEW_LINES]), PREVIEW_CHARS)


def _place(skill: Skill) -> _Place:
    """A skill is a file, or a folder with one."""
    file = PurePath(skill.origin)
    folder = file.parent
    return _Place(str(folder.parent if file.name == _FILE else folder), str(folder))


def _reading(name: str, max_chars: int | None = None) -> Step:
    if max_chars is None:
        return Step(tool="skills_read", args={"name": name}, rationale="It gives the whole body.")
    return Step(
        tool="skills_read",
        args={"name": name, "max_chars": max_chars},
        rationale="The body is longer than what was read.",
    )


def _no_skill(name: str) -> InvalidArguments:
    step = Step(tool="skills_list", rationale="It lists the skills there are, by name.")
    return InvalidArguments(
        f"There is no skill {name!r}; skills_list gives the names.",
        field="name",
        expected="the exact name of a skill",
        extras={"next_step": msgspec.to_builtins(step)},
    )
