"""Traces and metrics for OpenTelemetry, out of a session's events. Only `door` is for others."""
