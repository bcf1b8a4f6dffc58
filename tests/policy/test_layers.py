"""Each layer is asked, and a ceiling holds what is declared only when it holds all of it."""

import msgspec
import pytest
from policy.rules_kit import use

from holdfast.contract.json_value import JsonObject
from holdfast.contract.requirements import requirement_set
from holdfast.policy.containment import holds
from holdfast.policy.paths import Refused
from holdfast.policy.places import Place, Places
from holdfast.policy.scope import EffectiveScope, Scope, child_of, compile_scope, strictly
from holdfast.testing.fakes import FakePaths

PLACES = Places(workspace=(Place("/ws", "/ws"),), user_data=())
FACTS = FakePaths((), {})
EVERYTHING: JsonObject = {
    "fs": {"read": ["**"], "write": ["**"]},
    "net": {"hosts": ["api.example"]},
    "shell": [{"cmd": "*"}],
    "capabilities": ["secrets.has"],
}
NOTHING: JsonObject = {}


def layer(declared: JsonObject) -> Scope:
    return compile_scope(requirement_set(declared), PLACES)


def admitted(scope: EffectiveScope) -> list[bool]:
    return [
        not isinstance(verdict, Refused)
        for verdict in (
            scope.admits_path("read", "a"),
            scope.admits_path("write", "a"),
            scope.admits_host("api.example"),
            scope.admits_url("https://api.example/"),
            scope.admits_command("git log"),
            *map(scope.admits_capability, ("fs.read", "fs.write", "net.fetch", "shell.run")),
            scope.admits_capability("secrets.has"),
        )
    ]


@pytest.mark.parametrize("empty", range(4))
def test_one_layer_that_holds_nothing_withholds_everything(empty: int) -> None:
    layers = [layer(NOTHING if place == empty else EVERYTHING) for place in range(4)]
    declared, ceiling, parent, own = layers
    above = EffectiveScope(parent, FACTS)
    scope = strictly(child_of(above, EffectiveScope(declared, FACTS, ceiling)), own)
    assert admitted(scope) == [False] * 10


def test_layers_that_all_hold_it_admit_it() -> None:
    declared, ceiling, parent, own = (layer(EVERYTHING) for _ in range(4))
    above = EffectiveScope(parent, FACTS)
    scope = strictly(child_of(above, EffectiveScope(declared, FACTS, ceiling)), own)
    assert admitted(scope) == [True] * 10


def test_a_child_is_bound_by_the_ceiling_of_its_parent() -> None:
    whole, none = layer(EVERYTHING), layer(NOTHING)
    for above in (EffectiveScope(whole, FACTS, none), EffectiveScope(whole, FACTS, whole, none)):
        child = child_of(above, EffectiveScope(layer(EVERYTHING), FACTS))
        assert admitted(child) == [False] * 10
        grandchild = child_of(child, EffectiveScope(layer(EVERYTHING), FACTS))
        assert admitted(grandchild) == [False] * 10


@pytest.mark.parametrize(
    ("declared", "name"),
    [
        ({"fs": {"read": ["{user-data}/**"]}}, "fs.read"),
        ({"fs": {"write": ["{user-data}/**"]}}, "fs.write"),
        ({"net": {"hosts": ["{workspace}.example"]}}, "net.fetch"),
    ],
)
def test_a_pattern_that_stands_for_nothing_declares_nothing(
    declared: JsonObject, name: str
) -> None:
    scope = EffectiveScope(layer(declared), FACTS)
    assert isinstance(scope.admits_capability(name), Refused)


CEILING: JsonObject = {
    "fs": {"read": ["notes/**", "a.txt", r"x\*/**", "y*/**"], "write": ["notes/**"]},
    "net": {"hosts": ["api.example", "*.docs.example", "db.example:443"]},
    "shell": [{"cmd": "git"}],
    "capabilities": ["secrets.has"],
}


@pytest.mark.parametrize(
    ("capability", "pattern", "held"),
    [
        ("fs.read", "{notes,notes/deep}/**", True),
        ("fs.read", "{notes,src}/**", False),
        ("fs.read", "{src,notes}/**", False),
        ("fs.read", "notes", True),
        ("fs.read", "a.txt", True),
        ("fs.read", "a.txt/b", False),
        ("fs.read", "a.txt/**", False),
        ("fs.read", r"x\\\*/b", False),
        ("fs.read", "y*/**", True),
        ("fs.write", "{notes,src}/a", False),
        ("net.fetch", "{api,a.docs}.example", True),
        ("net.fetch", "{api,evil}.example", False),
        ("net.fetch", "{evil,api}.example", False),
        ("net.fetch", "db.example:443", True),
        ("net.fetch", "db.example", False),
        ("net.fetch", "db.example:80", False),
        ("net.fetch", "*", False),
        ("shell.run", "git", True),
        ("shell.run", "*", False),
        ("secrets.has", "", True),
        ("stream.send", "", False),
    ],
)
def test_a_layer_holds_a_pattern_only_when_it_holds_all_it_stands_for(
    capability: str, pattern: str, held: bool
) -> None:
    declared = msgspec.structs.replace(use(capability, pattern), declared=True)
    assert holds(layer(CEILING), declared) is held


def test_a_layer_for_any_program_holds_every_program() -> None:
    for program in ("*", "git"):
        declared = msgspec.structs.replace(use("shell.run", program), declared=True)
        assert holds(layer({"shell": [{"cmd": "*"}]}), declared)
        assert not holds(layer({"shell": [{"cmd": "*", "args": ["x"]}]}), declared)
