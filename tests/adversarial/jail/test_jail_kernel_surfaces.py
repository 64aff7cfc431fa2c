"""Promise: What each jail holds.
Attacker: the tool. Means: io_uring, whose requests no filter sees, and other calls with a history of holes: bpf, performance
counters, userfaultfd.

Expected: refused with EPERM.
"""
import pytest


def test_ring_is_refused(cell):
    cell.breaks_out_only_outside("breach_calls", "uring", errnos="EPERM")


@pytest.mark.parametrize("way", ["bpf", "perf", "fault"])
def test_surface_is_refused(root_cell, way):
    root_cell.breaks_out_only_outside("breach_calls", way, errnos="EPERM")


@pytest.mark.parametrize("way", ["bpf", "perf", "fault"])
def test_surface_is_refused_to_everybody(cell, way):
    cell.refused_inside("breach_calls", way, errnos="EPERM")
