"""Only the policy room makes a Permit, so running an unchecked call cannot be written."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "holdfast"


def _made_in(path: Path, name: str) -> bool:
    tree = ast.parse(path.read_text("utf-8"))
    return any(
        isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Name) and node.func.id == name)
            or (isinstance(node.func, ast.Attribute) and node.func.attr == name)
        )
        for node in ast.walk(tree)
    )


def test_only_policy_makes_a_permit() -> None:
    makers = {
        path.relative_to(SOURCE).parts[0]
        for path in SOURCE.rglob("*.py")
        if _made_in(path, "Permit")
    }
    assert makers == {"policy"}


def test_execution_accepts_a_permit_and_nothing_weaker() -> None:
    tree = ast.parse((SOURCE / "execution" / "run.py").read_text("utf-8"))
    (begin,) = (
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "begin"
    )
    first = begin.args.args[0].annotation
    assert isinstance(first, ast.Name)
    assert first.id == "Permit"
