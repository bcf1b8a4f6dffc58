"""Answers and refusals from end to end: what the model reads, and that the body never ran."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from places import Places, make_places

from holdfast import Answer, Ask, Holdfast, tool
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import Approver
from holdfast.contract.rules import Rule
from holdfast.contract.watchdog import Hook, Inspection, Opinion
from holdfast.policy import words
from holdfast.sources.intake import to_tool

ASKED = Rule(permission="save", pattern="**", action="ask", scope="project", source="test")


class Body:
    """A tool that says whether it ran."""

    def __init__(self) -> None:
        self.saved: list[str] = []

        @tool(requires={"fs": {"write": ["**"]}}, uses={"path": "fs.write"})
        def save(path: str) -> str:
            """Save a file (not really)."""
            self.saved.append(path)
            return path

        self.tool = to_tool(save)

    async def settle(
        self,
        places: Places,
        *,
        workspace: Path | None = None,
        approver: Approver | None = None,
        hooks: tuple[Hook, ...] = (),
    ) -> Envelope:
        loaded = places.load()
        told = surroundings_of_this_process(loaded.settings, environment=places.environment)
        made = Holdfast(
            tools=[self.tool],
            workspace=workspace or places.project,
            configuration=loaded,
            surroundings=told,
            rules=[ASKED],
            hooks=hooks,
            approver=approver,
        )
        async with made as holdfast:
            return await holdfast.settle("save", {"path": "notes/a.md"})


def person(*answers: object) -> Approver:
    given = list(answers)

    async def approver(_ask: Ask, /) -> Answer | None:
        found = given.pop(0)
        if isinstance(found, BaseException):
            raise found
        return found  # pyright: ignore[reportReturnType] - a person's program may return anything

    return approver


@pytest.mark.req("BOA-ASK-10")
@pytest.mark.parametrize(("note", "ending"), [(None, "save."), ("not there", "save: not there")])
async def test_after_a_refusal_the_tool_does_not_run(
    places: Places, note: str | None, ending: str
) -> None:
    body = Body()
    body.tool = msgspec.structs.replace(body.tool, permission_policy="always_ask")
    refused = await body.settle(places, approver=person(Answer(allowed=False, by="ada", note=note)))
    assert refused.failure is not None
    assert refused.failure.kind is FailureKind.USER_DENIED
    assert refused.failure.message == f"The user denied confirmation for {ending}"
    assert body.saved == []


@pytest.mark.req("SPEC-WATCH-04")
async def test_a_deny_of_the_watchdog_comes_before_any_effect(places: Places) -> None:
    def suspicious(_inspection: Inspection, /) -> Opinion:
        return Opinion("deny", "Looks like theft.")

    body = Body()
    yes = person(Answer(allowed=True, by="ada"))
    denied = await body.settle(places, approver=yes, hooks=(suspicious,))
    assert denied.failure is not None
    assert "Looks like theft." in denied.failure.message
    assert body.saved == []


@pytest.mark.req("SPEC-HEAD-02")
@pytest.mark.parametrize(
    "given",
    [
        pytest.param(lambda: None, id="nobody"),
        pytest.param(lambda: person(None), id="no answer"),
        pytest.param(lambda: person(RuntimeError("broken")), id="broken"),
        pytest.param(lambda: person(SystemExit(0)), id="gone"),
        pytest.param(lambda: person("yes"), id="words"),
        pytest.param(lambda: person(True), id="no Answer"),
        pytest.param(lambda: person(Answer(allowed=1, by="ada")), id="truthy"),  # pyright: ignore[reportArgumentType] - the point of it
    ],
)
async def test_no_answer_is_ever_invented(
    places: Places, given: Callable[[], Approver | None]
) -> None:
    body = Body()
    refused = await body.settle(places, approver=given())
    assert refused.failure is not None
    assert refused.failure.message == words.NOBODY_TO_ASK
    assert body.saved == []


@pytest.mark.req("SPEC-SCOPE-08")
async def test_an_answer_for_the_project_outlives_the_session_and_stays_in_it(
    places: Places, tmp_path: Path
) -> None:
    body = Body()
    always = Answer(allowed=True, by="ada", remember="project")
    assert (await body.settle(places, approver=person(always))).ok
    assert (await body.settle(places)).ok
    (tmp_path / "other").mkdir()
    other = make_places(tmp_path / "other")
    elsewhere = Places(places.home, other.project)
    assert not (await body.settle(elsewhere)).ok
    assert len(body.saved) == 2


async def test_in_another_workspace_the_same_words_are_another_file(places: Places) -> None:
    body = Body()
    below = places.project / "sub"
    below.mkdir()
    always = Answer(allowed=True, by="ada", remember="project")
    assert (await body.settle(places, approver=person(always))).ok
    assert not (await body.settle(places, workspace=below)).ok
    assert (await body.settle(places, workspace=below, approver=person(always))).ok
    assert (await body.settle(places, workspace=below)).ok
