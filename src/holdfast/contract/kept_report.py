"""What a command printed, as output that a file keeps: both streams, as they came. Pure."""

from holdfast.contract.shell import CommandReport, Printed
from holdfast.contract.told import KeptOutput

_TAIL_BYTES = 64 * 1024


def kept_output(report: CommandReport) -> KeptOutput | None:
    """Both streams in the order they came, where a file holds them or memory does not."""
    complete = report.stdout.complete and report.stderr.complete
    if report.output_path is None and complete:
        return None
    head = _beginning(report)
    total = report.stdout.total + report.stderr.total
    return KeptOutput(
        path=report.output_path,
        head=head,
        tail=_end(report, min(_TAIL_BYTES, total - len(head))),
        total=total,
        dropped=report.dropped_bytes,
    )


def _beginning(report: CommandReport) -> bytes:
    """The beginning of both streams together, as far as memory holds it without a gap."""
    known = {"stdout": _from_start(report.stdout), "stderr": _from_start(report.stderr)}
    taken = {"stdout": 0, "stderr": 0}
    parts: list[bytes] = []
    for name, count in report.order:
        piece = known[name][taken[name] : taken[name] + count]
        parts.append(piece)
        taken[name] += count
        if len(piece) < count:
            break
    return b"".join(parts)


def _end(report: CommandReport, most: int) -> bytes:
    """The end of both streams together, as far as memory holds it without a gap."""
    if sum(count for _, count in report.order) < report.stdout.total + report.stderr.total:
        return b""  # the order is that of the beginning alone
    known = {"stdout": _to_end(report.stdout), "stderr": _to_end(report.stderr)}
    parts: list[bytes] = []
    for name, count in reversed(report.order):
        if most <= 0:
            break
        wanted = min(count, most)
        piece = known[name][-wanted:]
        known[name] = known[name][:-wanted]
        parts.append(piece)
        most -= len(piece)
        if len(piece) < wanted:
            break
    return b"".join(reversed(parts))


def _from_start(printed: Printed) -> bytes:
    return printed.head + printed.tail if printed.complete else printed.head


def _to_end(printed: Printed) -> bytes:
    return printed.head + printed.tail if printed.complete else printed.tail
