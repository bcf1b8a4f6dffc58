"""The line to a warden that is gone."""

import socket

import pytest

from holdfast.execution.warden.wire import Hungup, receive_order


def test_a_line_whose_other_end_went_with_something_unread_is_hung_up() -> None:
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with here:
        here.send(b"never read")
        there.close()  # the kernel tells that as a reset
        with pytest.raises(Hungup):
            receive_order(here)
