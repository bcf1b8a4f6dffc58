"""What a spool keeps: up to its quota, and every byte past it is counted."""

import os
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.execution.spool import BEFORE_A_FILE, Spool, SpoolFile

SIZES = st.lists(st.sampled_from([1, 700, 60_000, 262_143, 262_144, 400_000]), max_size=12)


def spool_in(folder: Path, quota: int) -> Spool:
    def create() -> SpoolFile:
        path = folder / f"out{len(list(folder.iterdir()))}"
        return SpoolFile(str(path), os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), quota)

    return Spool(create, quota)


@given(sizes=SIZES, quota=st.integers(0, 900_000))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_waits_past_the_quota_is_not_counted_as_kept(
    tmp_path: Path, sizes: list[int], quota: int
) -> None:
    spool = spool_in(tmp_path, quota)
    taken = 0
    for size in sizes:
        taken += size
        if spool.take(b"x" * size):
            spool.write()
        if spool.path is not None:
            assert spool.dropped(0) == max(0, taken - quota)
            assert spool.dropped(taken) == 0
    spool.close()
    if spool.path is None:  # little enough to be in memory, or nothing may be kept
        assert min(taken, quota) <= BEFORE_A_FILE
        return
    assert Path(spool.path).stat().st_size == min(quota, taken) == taken - spool.dropped(0)


def test_a_piece_across_the_quota_is_kept_up_to_it(tmp_path: Path) -> None:
    spool = spool_in(tmp_path, 300_000)
    assert spool.take(b"x" * 299_000)
    spool.write()
    assert not spool.take(b"y" * 2_000)
    assert spool.dropped(0) == 1_000
    assert not spool.take(b"z" * 500)
    assert spool.dropped(0) == 1_500
    spool.close()
    assert spool.dropped(0) == 1_500


def test_where_nothing_can_be_kept_everything_is_counted() -> None:
    spool = Spool(lambda: None, 1_000_000)
    assert spool.take(b"x" * 300_000)
    spool.write()
    assert not spool.take(b"y" * 10)
    assert (spool.dropped(0), spool.dropped(1_000)) == (300_010, 299_010)
