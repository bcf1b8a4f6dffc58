"""Shipped for tests, ours and yours: a fake for every port and the kits the real ones pass too."""
