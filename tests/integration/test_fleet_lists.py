"""chokepoint fleet run: several lists in one directory, and places that are not there yet."""
import os

from fleets import Fleet


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
