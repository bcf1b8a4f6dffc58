"""What a file is by its name alone."""

import pytest

from holdfast.tools.code.languages import OTHER, MarkerKind, language_of, marker_of


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("Makefile", "Makefile"),
        ("CMakeLists.txt", "CMake"),  # its name counts before its ending
        ("notes.txt", "Text"),
        ("main.PY", "Python"),
        ("archive.tar.gz", None),
        ("logo.PNG", None),
        (".bashrc", OTHER),
        ("LICENSE", OTHER),
        ("data.unheard", OTHER),
    ],
)
def test_a_name_tells_the_language(name: str, language: str | None) -> None:
    assert language_of(name) == language


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (".github/workflows/test.yml", "ci"),
        ("sub/.github/workflows/README.md", "ci"),  # where it is counts before its name
        (".github/README.md", "readme"),
        ("my.github/workflows/test.yml", None),
        ("docs/LICENSE-MIT.txt", "licence"),
        ("src/Main.java", "entry_point"),
        ("readme.py", None),
        ("deep/Dockerfile", "container"),
    ],
)
def test_a_path_tells_what_it_is_to_its_project(path: str, kind: MarkerKind | None) -> None:
    assert marker_of(path) == kind
