"""When Ctrl-C is no exception: it ends the process as it ends any other program, and says nothing.

While modules are loaded compiled ones can crash on an exception, and nothing is there yet that
could word it. While an event loop is closed one leaves its threads, which keep the program alive.
"""

import signal


def end_by_an_interrupt() -> None:
    """From here on, unless somebody chose otherwise, or interrupts are ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
