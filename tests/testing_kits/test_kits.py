"""The fakes pass the kits, the real things pass the same ones, and the kits can fail."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.contract.audit import NoAudit, ProgramRun
from holdfast.contract.ports import IdPrefix, StoredOutput
from holdfast.execution.sidecars import SidecarFiles
from holdfast.record.audit_file import AuditFile
from holdfast.record.audit_reader import AuditReader
from holdfast.record.audit_redaction import Redaction
from holdfast.runtime.clock import SystemClock
from holdfast.runtime.ids import TimeIds
from holdfast.testing.fakes import FakeAudit, FakeClock, FakeIds, FakeSidecars
from holdfast.testing.kits import check_audit, check_clock, check_ids, check_sidecars, read_file


def test_the_clocks_pass_the_kit() -> None:
    check_clock(SystemClock())
    check_clock(FakeClock())


def test_the_id_sources_pass_the_kit() -> None:
    check_ids(TimeIds(SystemClock()))
    check_ids(TimeIds(FakeClock()))
    check_ids(FakeIds())


def test_the_sidecar_stores_pass_the_kit(tmp_path: Path) -> None:
    made: list[FakeSidecars] = []

    def fake(quota: int) -> FakeSidecars:
        made.append(FakeSidecars(quota))
        return made[-1]

    def remembered(path: str) -> bytes | None:
        return {p: c for s in made[-1].kept.values() for p, c in s.items()}.get(path)

    check_sidecars(fake, remembered)
    check_sidecars(lambda quota: SidecarFiles(tmp_path, session_quota=quota), read_file)


def test_the_audit_logs_pass_the_kit(tmp_path: Path) -> None:
    fake = FakeAudit()
    check_audit(fake, lambda: fake.runs)

    def read() -> list[ProgramRun]:
        entries = AuditReader(tmp_path / "audit").entries()
        return [entry for entry in entries if isinstance(entry, ProgramRun)]

    check_audit(AuditFile(tmp_path / "audit", Redaction()), read)


def test_the_audit_kit_notices_a_log_that_keeps_nothing() -> None:
    with pytest.raises(AssertionError, match="not kept as told"):
        check_audit(NoAudit(), list)


def test_the_clock_kit_notices_a_local_clock() -> None:
    class Local(FakeClock):
        def now(self) -> datetime:
            return datetime(2026, 1, 1, tzinfo=UTC).astimezone()

    with pytest.raises(AssertionError, match="UTC"):
        check_clock(Local())


def test_the_id_kit_notices_a_repeated_id() -> None:
    class Stuck(FakeIds):
        def new(self, prefix: IdPrefix) -> str:
            return f"{prefix}_{'0' * 26}"

    with pytest.raises(AssertionError, match="twice"):
        check_ids(Stuck())


def test_the_sidecar_kit_notices_a_store_without_a_quota() -> None:
    class Endless(FakeSidecars):
        def keep(self, session_id: str, name: str, content: bytes) -> StoredOutput | None:
            self.kept.setdefault(session_id, {})[f"{session_id}/{name}"] = content
            return StoredOutput(path=f"{session_id}/{name}", stored_bytes=len(content))

    store = Endless()
    with pytest.raises(AssertionError):
        check_sidecars(
            lambda _quota: store,
            lambda path: {p: c for s in store.kept.values() for p, c in s.items()}.get(path),
        )


def test_time_passes_for_the_fake_clock_only_when_told() -> None:
    clock = FakeClock()
    before = clock.now(), clock.ticks(), clock.unix_ns()
    assert (clock.now(), clock.ticks(), clock.unix_ns()) == before
    clock.advance(1.5)
    assert clock.ticks() == 1_500_000_000
    assert (clock.now() - before[0]).total_seconds() == 1.5
    assert clock.unix_ns() - before[2] == 1_500_000_000
