"""R113: the steps of the GitHub Action, executed with a release of this build, and with releases that were tampered with."""
import hashlib
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml
from making import ROOT, new_key
from workflow import Releases, Runner

BAD = "import os\nos.system('id')\n"


@pytest.fixture
def releases(release, tmp_path):
    """A copy of the release on a server, as files of its version."""
    place = tmp_path / "releases"
    shutil.copytree(release.directory, place / f"v{release.version}")
    server = Releases(place)
    server.place = place / f"v{release.version}"
    yield server
    server.close()


@pytest.fixture
def runner(release, releases, tmp_path):
    work = tmp_path / "runner"
    work.mkdir()
    made = Runner(ROOT, work, "https://nowhere.invalid")
    made.given = {"public_key": release.public.read_text(encoding="ascii"), "releases": releases.address}
    return made


def test_the_released_command_is_installed_and_lints(runner, release):
    (runner.repository / "good.py").write_text("print('fine')\n", encoding="ascii")
    done = runner.run(**runner.given)
    assert (done.status, done.steps) == (0, 2), done.out
    assert f"chokepoint {release.version}\n" in done.out
    command = pathlib.Path(done.outputs["command"])
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert said == f"chokepoint {release.version}\n" and runner.work in command.parents


def test_a_finding_is_an_annotation_and_fails_the_step(runner):
    (runner.repository / "bad.py").write_text(BAD, encoding="ascii")
    done = runner.run(**runner.given)
    assert (done.status, done.steps) == (1, 2) and re.search(r"^::error file=bad\.py,line=2", done.out, re.MULTILINE), done.out


def test_paths_are_paths_whatever_their_names_are(runner):
    """Attack: a path that is written as an option, and one that a shell would execute."""
    (runner.repository / "--config=x").mkdir()
    (runner.repository / "--config=x/bad.py").write_text(BAD, encoding="ascii")
    (runner.repository / "$(touch made)").mkdir()
    (runner.repository / "$(touch made)/good.py").write_text("print('fine')\n", encoding="ascii")
    done = runner.run(paths="--config=x\n\n$(touch made)\n", **runner.given)
    assert done.status == 1 and "::error file=--config=x/bad.py" in done.out.replace("%3D", "="), done.out
    assert not (runner.repository / "made").exists()


def test_lint_can_be_left_out(runner):
    (runner.repository / "bad.py").write_text(BAD, encoding="ascii")
    assert runner.run(lint="false", **runner.given).status == 0
    done = runner.run(lint="no", **runner.given)
    assert done.status == 1 and "'true' or 'false'" in done.out


def refused(runner, said, **given):
    """The first step fails, and nothing is on PATH."""
    done = runner.run(**{**runner.given, **given})
    assert (done.status, done.steps, done.outputs["command"]) == (1, 1, ""), done.out
    assert f"::error title=chokepoint::{said}" in done.out, done.out
    assert not (runner.work / "GITHUB_PATH").read_text(encoding="utf-8")


def test_without_a_key_nothing_is_fetched(runner, releases):
    runner.directory = runner.work / "action"
    runner.github["action_path"] = str(runner.directory)
    shutil.copytree(ROOT / "packaging/action", runner.directory / "packaging/action")
    refused(runner, "there is no key to check the release with", public_key="")
    assert not releases.asked


def test_the_key_of_the_action_is_the_one_without_another(runner, release):
    runner.directory = runner.work / "action"
    runner.github["action_path"] = str(runner.directory)
    shutil.copytree(ROOT / "packaging/action", runner.directory / "packaging/action")
    shutil.copy(release.public, runner.directory / "packaging/release-key.pem")
    assert runner.run(**{**runner.given, "public_key": ""}).status == 0


def test_a_release_of_another_key_is_refused(runner, tmp_path):
    refused(runner, "the signature of release", public_key=new_key(tmp_path / "other")[1].read_text(encoding="ascii"))


def test_an_archive_that_was_exchanged_is_refused(runner, release, releases):
    archive = releases.place / f"{release.name}.tar.gz"
    archive.write_bytes(archive.read_bytes()[:-1] + b"x")
    refused(runner, f"'{release.name}.tar.gz' is not what was signed")


def test_sums_that_fit_an_exchanged_archive_are_refused(runner, release, releases):
    """Attack: whoever can exchange the archive exchanges its sum as well."""
    archive, sums = releases.place / f"{release.name}.tar.gz", releases.place / "SHA256SUMS"
    old = hashlib.sha256(archive.read_bytes()).hexdigest()
    archive.write_bytes(archive.read_bytes() + b"x")
    text = sums.read_text(encoding="ascii")
    assert old in text
    sums.write_text(text.replace(old, hashlib.sha256(archive.read_bytes()).hexdigest()), encoding="ascii")
    refused(runner, "the signature of release")


def test_an_older_release_does_not_pass_for_a_newer_one(runner, releases):
    """Attack: the files of a release with a known hole are put where a newer one should be. They are signed."""
    shutil.copytree(releases.place, releases.place.parent / "v9.9.9")
    for path in (releases.place.parent / "v9.9.9").glob("*.tar.gz"):
        path.rename(path.parent / path.name.replace(path.name.split("-")[1], "9.9.9"))
    refused(runner, "the sums that were signed do not list", version="9.9.9")


def test_a_release_that_is_not_there_is_an_error(runner):
    refused(runner, "cannot fetch 'SHA256SUMS' of release 8.8.8", version="8.8.8")


@pytest.mark.parametrize("version", ["1.2", "../1.2.3", "1.2.3\n::warning::x", "$(touch made)", ""])
def test_a_version_is_three_numbers(runner, version):
    refused(runner, "the version '", version=version)
    assert not (runner.repository / "made").exists()


def test_no_step_uses_another_action_or_has_an_input_in_its_script():
    """An expression in a script is replaced before the shell reads it: an input would be code."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite" and len(action["runs"]["steps"]) == 2
    for step in action["runs"]["steps"]:
        assert "uses" not in step and "${{" not in step["run"]
