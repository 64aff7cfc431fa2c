"""Promise: Limits.
Attacker: the tool. Means: a file that grows without end; descriptors without end.

Expected: the file ends at its limit and the tool with it; descriptors are refused.
"""
import signal

import pytest

from limits import JAILS, limited

LIMIT = {"file_size_mib": 2, "open_files": 20}


@pytest.mark.parametrize("jail", JAILS)
def test_file_ends_at_its_limit(box, jail):
    path = box.root / "grown" if jail == "none" else "/tmp/grown"
    answer = limited(box, "hog", "file", "10", str(path), jail=jail, limits=LIMIT)
    assert (answer.outcome, answer["signal"], answer["limit_hit"]) == ("signaled", signal.SIGXFSZ, "fsize")
    if jail == "none":
        assert path.stat().st_size == 2 << 20


def test_same_file_size_is_available_without_the_limit(box):
    answer = limited(box, "hog_free", "file", "10", str(box.root / "grown"), limits=LIMIT)
    assert answer.stream("stdout") == b"full\n"


@pytest.mark.parametrize("jail", JAILS)
def test_descriptors_end_at_their_limit(box, jail):
    answer = limited(box, "hog", "files", "100", jail=jail, limits=LIMIT)
    assert (answer.stream("stdout"), answer["limit_hit"]) == (b"17\n", None)
