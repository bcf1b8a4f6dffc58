"""What a tool body may raise: each class knows its kind."""

import pytest

from holdfast.contract import errors
from holdfast.contract.errors import ToolError
from holdfast.contract.failure import FailureKind

KINDS: dict[type[ToolError], FailureKind] = {
    errors.ToolError: FailureKind.EXECUTION_ERROR,
    errors.InvalidArguments: FailureKind.INVALID_ARGS,
    errors.PathError: FailureKind.EXECUTION_ERROR,
    errors.FileNotFound: FailureKind.NOT_FOUND,
    errors.DirectoryNotFound: FailureKind.NOT_FOUND,
    errors.PathOutsideRoot: FailureKind.INVALID_ARGS,
    errors.OperationFailed: FailureKind.EXECUTION_ERROR,
    errors.OperationTimedOut: FailureKind.TIMEOUT,
    errors.BinaryFile: FailureKind.EXECUTION_ERROR,
    errors.UserDenied: FailureKind.USER_DENIED,
    errors.PolicyDenied: FailureKind.REJECTED,
    errors.Unavailable: FailureKind.UNAVAILABLE,
    errors.MissingSystemPermission: FailureKind.UNAVAILABLE,
    errors.SandboxNotRunning: FailureKind.UNAVAILABLE,
    errors.SandboxIdleTimeout: FailureKind.TIMEOUT,
    errors.Cancelled: FailureKind.EXECUTION_ERROR,
}


def _all(cls: type[ToolError]) -> set[type[ToolError]]:
    return {cls}.union(*(_all(below) for below in cls.__subclasses__() if _is_ours(below)))


def _is_ours(cls: type[ToolError]) -> bool:
    return cls.__module__ == errors.__name__


def test_every_error_of_the_contract_is_in_this_table() -> None:
    assert _all(ToolError) == set(KINDS)


@pytest.mark.parametrize(("cls", "kind"), KINDS.items(), ids=lambda value: str(value))
def test_an_error_knows_its_kind_and_can_be_raised_without_words(
    cls: type[ToolError], kind: FailureKind
) -> None:
    assert cls.kind is kind
    assert str(cls()) == ""
    assert str(cls("It broke.")) == "It broke."


@pytest.mark.parametrize(
    "cls", [errors.FileNotFound, errors.DirectoryNotFound, errors.PathOutsideRoot]
)
def test_an_error_about_a_path_names_the_path_argument(cls: type[errors.PathError]) -> None:
    assert cls("m").field == "path"
    assert cls("m", field="target").field == "target"


def test_an_error_can_say_more_than_its_message() -> None:
    given = {"tried": 3}
    error = errors.InvalidArguments("m", field="a", expected="e", extras=dict(given))
    assert (error.field, error.expected, error.extras) == ("a", "e", given)
    assert ToolError("m").extras == {}


def test_extras_belong_to_one_error_alone() -> None:
    given: dict[str, bool | int | str | None] = {"a": 1}
    error = ToolError("m", extras={**given})
    given["a"] = 2
    assert error.extras == {"a": 1}
    with pytest.raises(TypeError):
        ToolError.extras["a"] = 1  # pyright: ignore[reportIndexIssue] - on purpose


def test_a_subclass_that_skips_our_constructor_still_has_its_fields() -> None:
    class Skipping(errors.UserDenied):
        def __init__(self, who: str) -> None:
            self.who = who

    error = Skipping("ada")
    assert (error.field, error.expected, dict(error.extras)) == (None, None, {})
    assert error.kind is FailureKind.USER_DENIED


def test_a_binary_file_error_hints_at_another_way_unless_told_a_better_one() -> None:
    assert "Use a tool made for its format" in str(errors.BinaryFile("m").extras["hint"])
    assert errors.BinaryFile("m", hint="Use xxd.").extras == {"hint": "Use xxd."}
