"""Docstrings in every usual style, and whatever else may be written there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sources.docstring import read_docstring

NAMES = ["city", "unit"]

GOOGLE = """Current weather.

    Longer text.

    Args:
        city (str): a town,
            e.g. 'Oslo'
        unit: c or f
        other: not a parameter

    Returns:
        Degrees.
    """

NUMPY = """Current weather.

    Longer text.

    Parameters
    ----------
    city : str
        a town,
        e.g. 'Oslo'
    unit : {"c", "f"}, optional
        c or f

    Returns
    -------
    float
        Degrees.
    """

REST = """Current weather.

    Longer text.

    :param city: a town,
        e.g. 'Oslo'
    :type city: str
    :param str unit: c or f
    :returns: Degrees.
    """

LINES = """Current weather.

    Longer text.

    city: a town,
        e.g. 'Oslo'
    - `unit`: c or f

    Returns degrees.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, REST, LINES])
def test_each_style_gives_the_same_parameters(text: str) -> None:
    found = read_docstring(text, NAMES)
    assert found.parameters == {"city": "a town, e.g. 'Oslo'", "unit": "c or f"}


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, REST, LINES])
def test_the_description_keeps_the_rest_and_loses_the_parameters(text: str) -> None:
    description = read_docstring(text, NAMES).description
    assert description.startswith("Current weather.\n\nLonger text.")
    assert "egrees" in description
    assert "town" not in description
    assert "c or f" not in description


@pytest.mark.parametrize(
    ("text", "description", "parameters"),
    [
        (
            "Current weather. city: a town, e.g. 'Oslo'.",
            "Current weather.",
            {"city": "a town, e.g. 'Oslo'."},
        ),
        (
            "Weather. city: a town. unit: c or f.",
            "Weather.",
            {"city": "a town.", "unit": "c or f."},
        ),
        ("city: a town; unit: c or f", "", {"city": "a town", "unit": "c or f"}),
        (
            "Weather.\n\ncity: a town. unit: c or f.",
            "Weather.",
            {"city": "a town.", "unit": "c or f."},
        ),
        ("Weather of a city: Oslo, say.", "Weather of a city: Oslo, say.", {}),
        ("Weather. country: a land.", "Weather. country: a land.", {}),
        ("Weather. City: a town.", "Weather. City: a town.", {}),
        (
            "Weather.\n\nArgs:\n    nothing to say here",
            "Weather.\n\nArgs:\n    nothing to say here",
            {},
        ),
        ("Weather.\n\nArgs:\n    rt: the runtime", "Weather.", {}),
        ("", "", {}),
        (None, "", {}),
    ],
)
def test_sentences_speak_of_parameters_only_by_their_names(
    text: str | None, description: str, parameters: dict[str, str]
) -> None:
    found = read_docstring(text, NAMES)
    assert (found.description, found.parameters) == (description, parameters)


def test_the_first_place_that_speaks_of_a_parameter_counts() -> None:
    found = read_docstring("Go.\n\nArgs:\n    city: one\n\ncity: two", NAMES)
    assert found.parameters == {"city": "one"}


pieces = st.sampled_from(
    [
        "Args:",
        "Parameters",
        "----",
        ":param city: x",
        "city: a town",
        "unit : c",
        "Returns:",
        ". city: ",
        "\n",
        "\n\n",
        "    ",
        "\t",
        " ",
        "- ",
        "`unit`:",
        "*city",
        "::",
        "word",
        "e.g. 'Oslo'.",
        "\x00",
    ]
)
texts = st.one_of(
    st.text(), st.lists(pieces).map("".join), st.lists(st.one_of(pieces, st.text())).map(" ".join)
)
names = st.lists(st.one_of(st.sampled_from(NAMES), st.text()))


@given(texts, names)
def test_no_docstring_makes_it_raise_and_no_word_is_invented(
    text: str, given_names: list[str]
) -> None:
    found = read_docstring(text, given_names)
    assert set(found.parameters) <= set(given_names)
    said = " ".join([found.description, *found.parameters.values()])
    assert all(part in text.expandtabs() for word in said.split() for part in [word])


@given(texts)
def test_without_parameters_only_parameter_sections_are_taken_out(text: str) -> None:
    assert read_docstring(text, []).parameters == {}
