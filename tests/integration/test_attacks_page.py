"""docs/attacks.md agrees with the heads of the attacks, and an attack without a promise is an
error.
"""
import pathlib
import shutil
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]


def check(stage, top=TOP):
    return subprocess.run(["/usr/bin/python3", top / "tools/gen/attacks-page.py", stage / "chokepoint", "--check"],
                          capture_output=True, text=True, check=False)


def test_page_is_what_the_attacks_say(stage):
    said = check(stage)
    assert said.returncode == 0, said


def test_attack_without_a_known_promise_is_an_error(stage, tmp_path):
    for name in ("tools/gen/attacks-page.py", "SECURITY.md", "docs/attacks.md", "tests/adversarial/process/test_fork_relay.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / name, tmp_path / name)
    said = check(stage, tmp_path)
    assert said.returncode == 1 and "is not what the tests say" in said.stdout, said
    attack = tmp_path / "tests/adversarial/process/test_fork_relay.py"
    text = attack.read_text(encoding="utf-8")
    attack.write_text(text.replace("Promise: The tree.", "Promise: Something.", 1), encoding="utf-8")
    assert "no promise that is called 'Something'" in check(stage, tmp_path).stderr
    attack.write_text(text.replace("Promise: The tree.\n", "", 1), encoding="utf-8")
    assert "do not name promise" in check(stage, tmp_path).stderr
