"""Stands in for semgrep, with its shape: what it starts, opens, writes and asks of the system. It knows one pattern.

Written from the description of semgrep 1.x: the script `semgrep` executes the native program of its package, which
executes `pysemgrep` for what it does not do itself. That one writes settings and a log beneath HOME, lists its targets
with a pool of processes, and starts the native program again, with rules and targets in temporary files.
"""
__VERSION__ = "1.90.0"
