"""Runs any file of conformance cases in the published formats against this installation."""

from holdfast.testing.conformance.runner import CaseFailure, Report, UnknownSuite, run

__all__ = ["CaseFailure", "Report", "UnknownSuite", "run"]
