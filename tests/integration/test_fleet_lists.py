"""chokepoint fleet run: several lists in one directory, and places that are not there yet."""
import os

from fleets import Fleet
from gathered import probe
from processes import wait_until


def claimed(fleet):
    return len(fleet.claims()) if (fleet.out / "claims").exists() else 0


def test_a_start_with_another_list_takes_nothing_from_one_that_works(user_box):
    """Every document is in the index, whichever of the two wrote it last."""
    fleet = Fleet(user_box, count=4, probes=[probe("one", "sleep", "2")])
    fleet.write_list(*fleet.repositories[:2])
    first = fleet.start("--jobs", "1")
    wait_until(lambda: claimed(fleet) == 1, "the first of two is claimed")
    fleet.write_list(*fleet.repositories[2:])
    assert fleet.run("--jobs", "2").status == 0
    assert sorted(fleet.index().values()) == sorted(map(str, fleet.repositories))
    _, err = first.communicate(timeout=60)
    assert first.returncode == 0, err
    assert sorted(fleet.documents()) == sorted(map(str, fleet.repositories))
    assert fleet.status() == {**fleet.status(), "repositories": 4, "done": 4, "pending": 0}


def test_an_index_that_another_start_has_written_is_completed(user_box):
    """Two that read the index at the same time each write their own list."""
    fleet = Fleet(user_box, count=2, probes=[probe("one", "sleep", "1")])
    process = fleet.start("--jobs", "2")
    wait_until(lambda: claimed(fleet) == 2, "both are claimed")
    fleet.box.file(fleet.out / "index.json", '{"format": 1, "repositories": {}}', 0o600)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert sorted(fleet.index().values()) == sorted(map(str, fleet.repositories))


def test_what_is_not_in_the_list_any_more_is_not_pending(user_box):
    fleet = Fleet(user_box, count=4)
    assert fleet.run("--limit", "1").status == 0
    fleet.write_list(*fleet.repositories[:2])
    assert fleet.run().status == 0
    assert fleet.status() == {**fleet.status(), "repositories": 2, "done": 2, "pending": 0}


def test_a_path_that_is_missing_keeps_its_name_when_it_is_there(user_box):
    """Or it would be a failure for ever."""
    fleet, box = Fleet(user_box, count=1), user_box
    (box.outside / "link").symlink_to(box.outside)
    fleet.write_list(box.outside / "link/gone", f"{box.outside}/./gone/", os.path.relpath(box.outside / "gone", box.root),
                     "missing/too", "..", "/")
    refused = fleet.run("--limit", "1")
    assert refused.status == 125 and b"is in the repository" in refused.err, refused  # of '..' and '/'
    fleet.write_list(box.outside / "link/gone", f"{box.outside}/./gone/", os.path.relpath(box.outside / "gone", box.root),
                     "missing/too")
    answer = fleet.run()
    assert answer.status == 1 and b"2 lines of the list name a repository again" in answer.err, answer
    assert sorted(fleet.failures()) == sorted([str(box.outside / "gone"), str(box.root / "missing/too")])
    fleet.repository("gone")
    assert fleet.run("--retry").status == 1
    assert list(fleet.documents()) == [str(box.outside / "gone")]
    assert fleet.status() == {**fleet.status(), "repositories": 2, "done": 1, "failed": 1}
