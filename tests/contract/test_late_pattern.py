"""Patterns that are compiled later: the same as ever, and each of ours can be compiled."""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.contract.late_pattern import LatePattern, late_pattern


@given(st.sampled_from([r"a+", r"(?P<x>[ab])c?", r"^b\Z"]), st.text("abc\n"), st.booleans())
def test_it_answers_as_a_pattern_does(expression: str, text: str, upper: bool) -> None:
    flags = re.IGNORECASE if upper else 0
    late, usual = late_pattern(expression, flags), re.compile(expression, flags)
    for _ in range(2):
        assert late.findall(text) == usual.findall(text)
        assert (late.fullmatch(text) is None) == (usual.fullmatch(text) is None)
        assert late.sub("-", text) == usual.sub("-", text)
    assert (late.pattern, late.flags, late.groups) == (usual.pattern, usual.flags, usual.groups)


def test_it_is_compiled_when_it_is_first_used() -> None:
    late = late_pattern("(")
    assert late.pattern == "("
    with pytest.raises(re.error, match="unterminated"):
        late.match("x")
    with pytest.raises(AttributeError, match="nothing_like_it"):
        getattr(late_pattern("x"), "nothing_like_it")  # noqa: B009 - a type checker knows better


def _within(value: object) -> Iterator[LatePattern[str] | LatePattern[bytes]]:
    if isinstance(value, LatePattern):
        yield cast("LatePattern[str]", value)
        return
    inside: list[object] = []
    if isinstance(value, dict):
        inside = [*cast("dict[object, object]", value).values()]
    elif isinstance(value, (list, tuple)):
        inside = [*cast("list[object]", value)]
    for one in inside:
        yield from _within(one)


def test_each_of_ours_can_be_compiled() -> None:
    """What is wrong with an expression would otherwise be told to whoever needs it first."""
    found = 0
    for module in pkgutil.walk_packages(holdfast.__path__, "holdfast."):
        if module.name.endswith("__main__"):
            continue
        for value in list(vars(import_module(module.name)).values()):
            for pattern in _within(value):
                assert isinstance(re.compile(pattern.pattern, pattern.given_flags), re.Pattern)
                found += 1
    assert found > 50
