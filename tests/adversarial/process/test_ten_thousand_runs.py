"""Promise: The tree.
Attacker: time. Means: ten thousand runs in one process (make test: 2,500).

Expected: not one descriptor, child or zombie more than after the first.
"""
from feature import scaled


def test_ten_thousand_runs_leak_nothing(user_box):
    answer = user_box.host("host_many", scaled(10000, 2000, 2500), deadline=120)
    assert answer.out.startswith(b"ok ")


def test_thousand_runs_leak_nothing_as_root(root_box):
    assert root_box.host("host_many", scaled(1000, 300, 300), deadline=120).out.startswith(b"ok ")
