"""Names of artifacts: which are plain, and what is wrong with the others."""

import pytest

from holdfast.contract.artifacts import LONGEST_NAME, MARKERS, artifact_name


@pytest.mark.parametrize("name", ["a", "report.pdf", ".hidden", "two words", "é" * 100, "..."])
def test_plain_names(name: str) -> None:
    assert artifact_name(name) is None


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "it is empty"),
        (" \t", "it is empty"),
        (".", "it names a directory and no file"),
        ("..", "it names a directory and no file"),
        ("a/b", "it holds a path separator"),
        ("a\\b", "it holds a path separator"),
        ("a\nb", "it holds control characters"),
        ("é" * 101, f"it is longer than {LONGEST_NAME} bytes"),
        *((f"a{marker}", "it holds a marker") for marker in MARKERS),
    ],
)
def test_what_is_wrong_with_a_name(name: str, why: str) -> None:
    assert artifact_name(name) == why
