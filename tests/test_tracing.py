"""A thread that is measured begins, although another one installs its trace just then."""

import sys
import threading

import pytest
from tracing import be_patient


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="these interpreters do not mind")
def test_a_thread_that_is_refused_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "_sys", vars(threading)["_sys"])
    tried: list[object] = []

    def refuses_twice(function: object) -> None:
        tried.append(function)
        if len(tried) < 3:
            raise RuntimeError("another trace function is being installed")

    be_patient()
    patient = vars(threading)["_sys"]
    with monkeypatch.context() as only_here:
        only_here.setattr(sys, "settrace", refuses_twice)
        patient.settrace(None)
    assert tried == [None, None, None]
    assert patient.version_info == sys.version_info
