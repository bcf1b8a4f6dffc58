"""Both streams of a command as one output that a file keeps."""

from holdfast.contract.kept_report import kept_output
from holdfast.contract.shell import CommandReport, Printed


def report(out: Printed, err: Printed, order: tuple[tuple[str, int], ...]) -> CommandReport:
    return CommandReport(
        exit_code=0,
        stdout=out,
        stderr=err,
        order=order,  # pyright: ignore[reportArgumentType] - the names of the two streams
        output_path="/kept",
        confinement="landlock",
    )


def test_what_memory_holds_without_a_gap_is_beginning_and_end() -> None:
    out = Printed(b"aaabbb", b"zzz", 20)
    err = Printed(b"EE", b"", 2)
    kept = kept_output(report(out, err, (("stdout", 3), ("stderr", 2), ("stdout", 17))))
    assert kept is not None
    assert (kept.head, kept.tail, kept.total) == (b"aaaEEbbb", b"zzz", 22)


def test_where_the_order_is_that_of_the_beginning_alone_there_is_no_end() -> None:
    kept = kept_output(report(Printed(b"aaa", b"zzz", 20), Printed(b"", b"", 0), (("stdout", 3),)))
    assert kept is not None
    assert (kept.head, kept.tail) == (b"aaa", b"")


def test_the_end_goes_over_both_streams_and_no_further_than_is_asked() -> None:
    much = 70 * 1024
    out = Printed(b"a" * 10, b"z" * 64 * 1024, 10 + much)
    err = Printed(b"E" * 5, b"", 5)
    order = (("stdout", 10 + much), ("stderr", 5))
    kept = kept_output(report(out, err, order))
    assert kept is not None
    assert kept.tail == (b"z" * (64 * 1024 - 5)) + b"EEEEE"
    before = kept_output(report(out, err, (("stderr", 5), ("stdout", 10 + much))))
    assert before is not None
    assert before.tail == b"z" * 64 * 1024


def test_what_memory_holds_as_a_whole_needs_no_file() -> None:
    whole = CommandReport(
        exit_code=0,
        stdout=Printed(b"x", b"", 1),
        stderr=Printed(b"", b"", 0),
        confinement="landlock",
    )
    assert kept_output(whole) is None
