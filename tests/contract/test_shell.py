"""What a tool raises for a command that the sandbox kept from something."""

from holdfast.contract.gates import Refusal
from holdfast.contract.shell import CommandReport, Printed, denial_of

NOTHING = Printed(b"", b"", 0)
SAID = Refusal(reason="no.", target="/x", requirement="requires.fs.read = ['/x']", basis="said")
PROVEN = Refusal(reason="no host.", target="evil.example")


def report(exit_code: int | None, *refusals: Refusal) -> CommandReport:
    return CommandReport(
        exit_code=exit_code,
        stdout=NOTHING,
        stderr=NOTHING,
        refusals=refusals,
        confinement="namespaces",
    )


def test_a_command_that_went_well_or_was_refused_nothing_was_not_denied() -> None:
    assert denial_of(report(0, PROVEN)) is None
    assert denial_of(report(1)) is None


def test_what_only_the_command_says_is_told_as_its_words() -> None:
    denial = denial_of(report(1, SAID))
    assert denial is not None
    assert str(denial) == (
        "The command says it could not reach '/x', which this session may not: no."
        " It would be admitted by requires.fs.read = ['/x']."
    )


def test_what_is_proven_comes_first_and_without_anothers_requirement() -> None:
    denial = denial_of(report(None, SAID, PROVEN))
    assert denial is not None
    assert str(denial) == "The sandbox refused it: no host."
    assert denial.extras["target"] == "evil.example"
    assert denial.extras["requirements"] == [SAID.requirement]
