"""The capabilities suite: paths, hosts, commands, compiling, layers and environments.

``@`` at the beginning of a path, a variable or a link's target is a fresh directory, in which the
files, directories and links of the case are laid.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import join
from tempfile import TemporaryDirectory
from typing import TypeAlias, cast

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.requirements import RequirementSet, requirement_set
from holdfast.execution.path_facts import DiskPaths
from holdfast.policy.environments import CAPABILITIES_OF, Environment, withheld
from holdfast.policy.paths import AdmittedPath, Refused
from holdfast.policy.places import Places, places_of
from holdfast.policy.scope import (
    Admitted,
    AdmittedHost,
    EffectiveScope,
    Scope,
    child_of,
    compile_scope,
    union,
)
from holdfast.testing.conformance.case import Case, NotForUs, differs, part, text, texts

_Verdict: TypeAlias = AdmittedPath | AdmittedHost | Admitted | Refused

_ENVIRONMENTS = {
    "web": Environment(kind="web"),
    "cloud": Environment(kind="cloud"),
    "computer": Environment(kind="computer"),
    "computer-no-sandbox": Environment(kind="computer", confined=False),
}


def check(case: Case) -> Iterator[str]:
    """Judge one case."""
    kind = text(case, "kind")
    if kind == "environment":
        yield from differs("verdict", _offered(case), case.get("expect"))
        return
    if kind not in ("path", "host", "shell", "compile", "effective"):
        raise NotForUs
    with TemporaryDirectory(prefix="holdfast-case-") as folder:
        ground = Path(folder).resolve()
        _lay(case.get("fs_setup"), ground)
        if kind == "compile":
            yield from differs("verdict", _compiled(case, ground), case.get("expect"))
        else:
            yield from _judged(case, ground)


def _offered(case: Case) -> str:
    name = text(case, "environment")
    environment = _ENVIRONMENTS.get(name)
    if environment is None:
        raise ValueError(f"there is no environment {name!r}")
    if case.get("virtual_fs") is True:
        environment = Environment(
            kind=environment.kind, virtual_files=True, confined=environment.confined
        )
    exercised = CAPABILITIES_OF.get(text(part(case, "call"), "tool"), frozenset())
    return "allow" if withheld(environment, exercised) is None else "deny"


def _compiled(case: Case, ground: Path) -> str:
    try:
        _scope(case.get("requires"), _places(case, ground))
    except ValueError:
        return "throw"
    return "ok"


def _judged(case: Case, ground: Path) -> Iterator[str]:
    call = part(case, "call")
    try:
        scope = _effective(case, ground)
    except ValueError as problem:
        # What does not compile admits nothing.
        verdict: _Verdict = Refused(str(problem))
    else:
        verdict = _answer(scope, call, case, ground)
    allowed = not isinstance(verdict, Refused)
    yield from differs("verdict", "allow" if allowed else "deny", case.get("expect"))
    trap = case.get("must_not_open", call.get("must_not_open"))
    if isinstance(verdict, AdmittedPath) and isinstance(trap, str):
        opened, kept = Path(verdict.canonical), ground / _placed(trap, ground)
        if opened.exists() and kept.exists() and opened.samefile(kept):
            yield "verdict: the canonical path is the file that must not be opened"


def _effective(case: Case, ground: Path) -> EffectiveScope:
    places, facts = _places(case, ground), DiskPaths()
    if case["kind"] != "effective":
        return EffectiveScope(_scope(case.get("requires"), places), facts)
    tools = cast("list[JsonValue]", case.get("tools") or [])
    declared = union(map(_declared, [case["manifest"], *tools]))
    scope = EffectiveScope(compile_scope(declared, places), facts)
    if case.get("ceiling") is not None:
        scope = scope.narrowed(_scope(case["ceiling"], places))
    if case.get("parent") is not None:
        scope = child_of(EffectiveScope(_scope(case["parent"], places), facts), scope)
    return scope


def _answer(scope: EffectiveScope, call: JsonObject, case: Case, ground: Path) -> _Verdict:
    match text(call, "op"):
        case "fs.read":
            return scope.admits_path("read", _placed(text(call, "path"), ground))
        case "fs.write":
            return scope.admits_path("write", _placed(text(call, "path"), ground))
        case "net.fetch":
            hops = [*texts(call, "redirects"), *texts(case, "redirects")]
            return scope.admits_url(text(call, "url"), hops)
        case "shell.run":
            written = call.get("command")
            return scope.admits_command(
                written if isinstance(written, str) else join(texts(call, "argv"))
            )
        case "capability":
            return scope.admits_capability(text(call, "name"))
        case _:
            raise NotForUs


def _scope(declared: JsonValue, places: Places) -> Scope:
    return compile_scope(_declared(declared), places)


def _declared(given: JsonValue) -> RequirementSet:
    if not isinstance(given, dict):
        raise TypeError("the case has no object of requirements")
    return requirement_set(given)


def _places(case: Case, ground: Path) -> Places:
    variables = case.get("vars") or {}
    named = {
        name: [_placed(path, ground) for path in cast("Sequence[str]", paths)]
        for name, paths in cast("JsonObject", variables).items()
    }
    return places_of(named, DiskPaths())


def _lay(setup: JsonValue, ground: Path) -> None:
    if not isinstance(setup, dict):
        return
    for name in texts(setup, "dirs"):
        (ground / name).mkdir(parents=True, exist_ok=True)
    for name in texts(setup, "files"):
        (ground / name).parent.mkdir(parents=True, exist_ok=True)
        (ground / name).write_text(name, "utf-8")
    for name, target in cast("JsonObject", setup.get("symlinks") or {}).items():
        (ground / name).parent.mkdir(parents=True, exist_ok=True)
        (ground / name).symlink_to(_placed(str(target), ground))


def _placed(path: str, ground: Path) -> str:
    return f"{ground}{path[1:]}" if path.startswith("@") else path
