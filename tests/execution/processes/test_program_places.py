"""Where a declared program is looked for inside of a sandbox."""

from pathlib import Path

from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes.program_places import located


def test_links_on_the_way_are_followed_and_names_kept_where_they_can_be_seen(
    tmp_path: Path,
) -> None:
    real, seen = tmp_path / "real", tmp_path / "seen"
    real.mkdir()
    seen.mkdir()
    (real / "program").write_text("", "utf-8")
    (tmp_path / "way").symlink_to(real)
    (real / "named").symlink_to("program")
    (seen / "named").symlink_to(real / "program")
    policy = SandboxPolicy(readable=(str(seen),))
    assert located("npx", policy) == "npx"
    assert located(f"{tmp_path}/way/program", policy) == f"{real}/program"
    assert located(f"{tmp_path}/way/none", policy) == f"{real}/none"
    assert located(f"{tmp_path}/way/named", policy) == f"{real}/program"
    assert located(f"{seen}/named", policy) == f"{seen}/named"
    assert located("/bin/sh", policy).endswith("/bin/sh")
