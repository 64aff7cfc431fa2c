"""docs/tools.md lists what the default policy allows: every option and subcommand, and nothing
else.
"""
import pathlib
import shutil
import subprocess

TOP = pathlib.Path(__file__).parents[2]


def check(top, stage):
    return subprocess.run(["/usr/bin/python3", top / "tools/gen/tools-table.py", stage / "chokepoint", "--check"],
                          check=False,
                          capture_output=True, stdin=subprocess.DEVNULL)


def copied(place, change):
    (place / "docs").mkdir()
    (place / "tools/gen").mkdir(parents=True)
    shutil.copy(TOP / "tools/gen/tools-table.py", place / "tools/gen")
    (place / "docs/tools.md").write_text(change((TOP / "docs/tools.md").read_text()))
    return place


def test_page_is_in_step_with_the_policy(stage):
    answer = check(TOP, stage)
    assert answer.returncode == 0, answer.stderr.decode()


def test_difference_is_found(stage, tmp_path):
    changes = [lambda text: text.replace(" `--ignore-case`", "", 1), lambda text: text.replace("`npm test` operands",
                                                                                               "`npm run` operands"),
               lambda text: text.replace("<!-- table: jq -->", ""), lambda text: text.replace("<!-- table: jq -->",
                                                                                              "<!-- table: java -->")]
    for number, change in enumerate(changes):
        directory = tmp_path / str(number)
        directory.mkdir()
        assert check(copied(directory, change), stage).returncode == 1
