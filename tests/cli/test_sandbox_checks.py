"""`holdfast doctor` about confinement: what is chosen, what is missing and what to do."""

import platform

import pytest

from holdfast.app import sandbox_survey
from holdfast.app.sandbox_survey import SandboxSurvey, SurveyedTier, survey
from holdfast.execution.processes.tiers import STRONGEST_FIRST
from holdfast.surfaces.cli.looks import Finding
from holdfast.surfaces.cli.sandbox_checks import check_sandbox


def surveyed(*there: str, version: int = 7, limits: tuple[str, ...] = ()) -> SandboxSurvey:
    return SandboxSurvey(
        tiers=tuple(
            SurveyedTier(
                name=tier.name,
                missing=None if tier.name in there else f"no {tier.name} here",
                separate=tier.separate,
            )
            for tier in STRONGEST_FIRST
        ),
        landlock=version,
        scoped=version >= 6,
        shared_limits=frozenset(limits),
    )


def checked(found: SandboxSurvey) -> list[Finding]:
    return list(check_sandbox(found=found))


def test_the_strongest_is_chosen_and_told() -> None:
    first, landlock, limits = checked(surveyed("namespaces", limits=("processes", "memory")))
    assert (first.status, first.detail.split(":")[0]) == ("OK", "namespaces")
    assert (landlock.status, limits.status) == ("OK", "OK")
    assert "processes and memory" in limits.detail


def test_what_a_weaker_kind_lacks_is_a_warning_with_the_next_step() -> None:
    found = checked(surveyed("landlock", version=5))
    assert [(one.status, one.name) for one in found] == [
        ("OK", "sandbox"),
        ("WARN", "sandbox namespaces"),
        ("WARN", "sandbox bubblewrap"),
        ("OK", "landlock"),
        ("WARN", "sandbox limits"),
    ]
    assert "no hosts" in found[0].detail
    assert "bubblewrap" in found[1].next_step
    assert "other means" in found[3].detail


def test_of_two_kinds_that_give_the_same_one_is_enough() -> None:
    found = checked(surveyed("bubblewrap", version=0, limits=("memory",)))
    assert [(one.status, one.name) for one in found] == [
        ("OK", "sandbox"),
        ("OK", "sandbox namespaces"),
        ("WARN", "landlock"),
        ("OK", "sandbox limits"),
    ]


def test_without_any_it_is_a_failure() -> None:
    (found,) = checked(surveyed())
    assert found.status == "FAIL"
    assert "no landlock here" in found.detail


def test_elsewhere_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    assert list(check_sandbox()) == []


async def test_the_survey_tries_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    found = await survey()
    assert [tier.name for tier in found.tiers] == [tier.name for tier in STRONGEST_FIRST]
    assert found.chosen is not None
    monkeypatch.setenv("PATH", "/nowhere")
    tiers = [tier for tier in STRONGEST_FIRST if tier.name == "bubblewrap"]
    monkeypatch.setattr(sandbox_survey, "STRONGEST_FIRST", tiers)
    (missing,) = (await survey()).tiers
    assert "not installed" in str(missing.missing)


def test_what_the_configuration_names_is_what_is_told() -> None:
    there = surveyed("namespaces", "landlock", limits=("memory",))
    first, *_ = check_sandbox("landlock", there)
    assert (first.status, first.detail.split(":")[0]) == ("OK", "landlock")
    (missing,) = check_sandbox("bubblewrap", there)
    assert (missing.status, "sandbox.confinement" in missing.next_step) == ("FAIL", True)
    (nothing,) = check_sandbox("unconfined", there)
    assert nothing.status == "WARN"
