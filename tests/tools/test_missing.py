"""A path that is not there is told with the one that may be meant."""

from pathlib import Path

import pytest
from tool_kit import failure, opened

from holdfast import Rule
from holdfast.contract.failure import FailureKind

pytestmark = pytest.mark.anyio


@pytest.fixture
def shop(workspace: Path) -> Path:
    for name in ("shop/cart.py", "shop/order.py", "README.md"):
        path = workspace / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x = 1\n")
    return workspace


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("shop/car.py", "Did you mean shop/cart.py?"),
        ("readme.md", "Did you mean README.md?"),
        ("shp", "Did you mean shop?"),
        ("shop/entirely_else.txt", "Look for it with glob."),
        ("nowhere/cart.py", "Look for it with glob."),
    ],
)
async def test_the_nearest_one_is_named(shop: Path, path: str, hint: str) -> None:
    async with opened(shop) as hf:
        told = await failure(hf, "read", path=path)
        assert (told.kind, told.field) == (FailureKind.NOT_FOUND, "path")
        assert told.message == f"There is no {path}. {hint}"
        absolute = await failure(hf, "read", path=str(shop / path))
        assert absolute.message.endswith(hint.replace("mean ", f"mean {shop}/"))
        changed = await failure(hf, "edit", path=path, old_string="x", new_string="y")
        assert changed.message == told.message


async def test_what_may_not_be_seen_is_not_named(shop: Path) -> None:
    denies = Rule(
        permission="fs.read", pattern="shop", action="deny", scope="project", source="test"
    )
    async with opened(shop, rules=[denies]) as hf:
        told = await failure(hf, "read", path="shop/car.py")
    assert told.message.endswith("Look for it with glob.")
