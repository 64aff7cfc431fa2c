"""Promise: The policy that is meant.
Attacker: a repository whose owner asks `policy learn` for an entry. Means: a Makefile that executes su, reads
credentials, connects, and writes outside of the root; scripts that start programs, directly or as orphans; files whose
names are lines of YAML; a path that changes while it is read; thousands of executions; a locked machine, and one
without the learning jail.

Expected (R83): nothing outside of the run is changed or reached. The entry grants only trusted system files that give
no privileges. What code beneath the root started is a question. Names are escaped, and no line is added. Without the
lock, or the jail, the same call is learned; with it nothing runs.
"""
import pytest

from learning import QUESTION, RECORD, Learner
from machine import is_locked_message
from no_userns import NoUserns

NAMES = ['x\n    egress: ["*"]\n    y', "a' # b: [c]", "c\r  - name: sudo", "\x1b[2J", "-name: \"sudo\"\u202e"]


@pytest.fixture
def learner(box):
    return Learner(box)


def recipe(learner, *lines, tool="make"):
    learner.box.file("root/Makefile", ".PHONY: all\nall:\n" + "".join(f"\t-@{line}\n" for line in lines))
    return learner.entry(tool)


def script(learner, name, text):
    return learner.box.file(f"root/{name}", "#!/bin/sh\n" + text, 0o755)


def granted(learner, name="make"):
    """The entry with no question answered: what is in force without a decision."""
    entry = learner.shown(name)
    assert entry["egress"] == entry["reads"] == entry["env"] == [] and not entry["loopback"], entry
    return set(entry["uses"]), set(entry["execs"] or [])


# ---- what is never granted ----

def test_hostile_makefile(learner):
    secret = learner.box.file("home/.secret", "the secret\n", 0o600)
    lines = ["su -c id", "/bin/su -c id", f"cat {secret}", f"echo x > {learner.box.outside}/planted",
             "perl -e 'use IO::Socket; IO::Socket::INET->new(\"192.0.2.1:80\")'"]
    # Without a jail it gets through.
    learner.box.file("root/Makefile", "all:\n" + "".join(f"\t-@{line}\n" for line in lines[2:4]))
    assert b"the secret" in learner.box.call(["make"]).out
    (learner.box.outside / "planted").unlink()
    text = recipe(learner, *lines, "echo x > /usr/planted", "cp /bin/true /tmp/true && /tmp/true")
    assert not list(learner.box.outside.iterdir())
    learner.start(text)
    learner.check()
    uses, execs = granted(learner)
    assert (uses, execs) == ({"shell"}, {"perl"}), text
    for line in ("exec '/usr/bin/su' by make", "exec '/tmp/true' by sh", f"open '{secret}' by cat", "connect 'IPv4 socket' by perl",
                 f"write '{learner.box.outside}/planted' by sh", "write '/usr/planted' by sh"):
        assert f"    # never granted: {line}\n" in text, (line, text)


@pytest.mark.parametrize("argv", [["su", "-c", "id"], ["passwd", "-S"], ["mount"], ["setpriv", "--dump"], ["chage", "-l", "root"]])
def test_program_that_gives_privileges_is_not_learned(learner, argv):
    """Neither as a helper (above) nor as the tool."""
    answer = learner.learn(*argv)
    assert (answer.status, answer.out) == (125, b""), answer
    assert argv[0].encode() in answer.err and b"privileges" in answer.err
    assert not learner.log.exists()  # nothing was run


def test_nothing_of_the_tool_reaches_the_repository(learner):
    kept = learner.box.file("root/kept", "kept\n")
    recipe(learner, "echo changed > kept", "echo x > made", "rm Makefile")
    assert kept.read_text(encoding="ascii") == "kept\n" and (learner.box.root / "Makefile").exists()
    assert not (learner.box.root / "made").exists()


@pytest.mark.parametrize("keys", ["", "execs: []\n          "])
def test_writable_entry_and_subcommand_leave_the_repository(learner, keys):
    """With `--into` the entry is the owner's, and a subcommand has a workspace of its own. Both runs have an overlay."""
    learner.box.file("root/Makefile", "all:\n\techo x > made\n\tsort made\n")
    learner.start('  - name: make\n    why: x\n    adr: "0001"\n    route: external\n    workspace: rw\n    args:\n'
                  f'      subcommands:\n        - name: all\n          {keys}workspace: rw\n')
    answer = learner.learn("make", "all", options=["--into", str(learner.policy)])
    assert answer.status == (1 if keys else 0), (answer.out, answer.err)  # what is added to the entry is not the subcommand's
    assert b"sort" in answer.out and not (learner.box.root / "made").exists()


# ---- code beneath the root ----

ORPHAN = "(setsid sh -c 'sleep 0.2; perl -e 1; : > /tmp/done' &) ; while [ ! -e /tmp/done ]; do sleep 0.05; done\n"


@pytest.mark.parametrize("text", ["perl -e 1\n", "sh -c 'perl -e 1'\n", "exec perl -e 1\n", ORPHAN])
def test_what_a_script_starts_is_a_question(learner, text):
    script(learner, "run.sh", text)
    out = recipe(learner, "./run.sh")
    learner.start(out)
    uses, execs = granted(learner)
    assert "perl" not in execs and QUESTION in out and "perl" in out, out
    assert "    # review: it runs code of the repository" in out
    learner.use(out)
    assert learner.run("make")["exit_code"] == 0


def test_what_make_starts_itself_is_granted(learner):
    out = recipe(learner, "perl -e 1")
    learner.start(out)
    assert granted(learner) == (set(), {"perl"}) and QUESTION not in out
    assert not learner.shown("make")["workspace_code"]


def test_copy_of_a_program_is_code_of_the_repository(learner):
    out = recipe(learner, "cp /usr/bin/perl p", "./p -e 'system(\"/usr/bin/python3\", \"-c\", \"1\")'")
    learner.start(out)
    uses, execs = granted(learner)
    assert "python3" not in execs and "python-tools" not in uses and QUESTION in out, out


# ---- names ----

@pytest.mark.parametrize("name", NAMES)
def test_name_of_a_file_adds_no_line(learner, name):
    """As an executed file, as a file that is refused, and as the name of a changed file."""
    script(learner, name, "")
    learner.box.file("root/run.py", "import subprocess, sys, os\n"
                     f"name = {name!r}\n"
                     "subprocess.run(['./' + name])\n"
                     "for path in ('/usr/' + name, '/tmp/' + name, 'made-' + name):\n"
                     "    try:\n        open(path, 'w').write('#!/bin/sh\\n'); os.chmod(path, 0o755); subprocess.run([path])\n"
                     "    except OSError: pass\n")
    out = learner.entry("python3", "run.py")
    lines = out.rstrip("\n").split("\n")
    assert all(line.startswith("    ") or line.startswith("  - name: python3") for line in lines), out
    assert all(31 < ord(character) and character.isprintable() for character in out if character != "\n"), out
    learner.start(out)
    learner.check()
    assert [tool for tool in ("sudo", "y") if f"\n  - name: {tool}" in out] == []
    granted(learner, "python3")


def test_path_that_changes_while_it_is_read(learner):
    """Whichever of the two is read: only one that may be granted is granted."""
    victim = learner.box.entry("say_args")
    policy = learner.box.write_policy([victim], name="policy/own.yaml")
    policy.write_text(f"version: 1\nadr_dir: adr\nsearch_path: ['{learner.box.bin}', /usr/bin, /bin]\ntools:\n"
                      "  - name: say_args\n    why: x\n    adr: '0001'\n    route: direct\n", encoding="utf-8")
    answer = learner.learn("breach_execs", "swap", "/usr/bin/true", "/usr/bin/su", options=["--adr", RECORD, "--into", str(policy)])
    assert answer.status in (0, 1), answer.err
    uses, execs = granted(learner, "breach_execs")
    assert uses <= {"shell"} and execs <= {"true"}, answer.out


def test_flood_is_counted(learner):
    learner.box.file("root/Makefile", "all:\n\tfor i in $$(seq 300); do cp /bin/true f$$i; ./f$$i; rm f$$i; done\n")
    answer = learner.learn("make")
    assert b"more events, which are not listed here" in answer.out, (answer.out, answer.err)
    assert len(answer.out) < 65536


# ---- who may ----

def test_locked_policy_refuses_it_to_a_user(machine_box):
    box = machine_box
    command = [box.command, "policy", "learn", "--root", str(box.root), "--adr", "0001", "--", "touch", "made"]
    box.install()
    answer = box.call(command)
    assert answer.status == 0 and b"- name: touch" in answer.out, answer.err
    before = len(box.recorded())
    box.install(locked=True)
    for options in ([], ["--into", str(box.policy)]):
        answer = box.call([*command[:3], *options, *command[3:]])
        assert (answer.status, answer.out) == (125, b"") and is_locked_message(answer.err.decode()), answer.err
    assert not [record for record in box.recorded()[before:] if record["kind"] == "intent"]


def test_locked_policy_allows_it_to_root(root_machine_box):
    box = root_machine_box
    box.install(locked=True)
    answer = box.call([box.command, "policy", "learn", "--root", str(box.root), "--adr", "0001", "--", "touch", "made"])
    assert answer.status == 0 and b"- name: touch" in answer.out, answer.err


@pytest.mark.parametrize("way", ["container", "switch"])
def test_without_the_learning_jail_nothing_runs(learner, way):
    canary = learner.box.outside / "canary"
    command = [learner.box.command, "policy", "learn", "--root", str(learner.box.root), "--adr", RECORD, "--", "touch", str(canary)]
    answer = NoUserns(learner.box, way).call(command)
    assert (answer.status, answer.out) == (125, b"") and b"'policy learn' needs the native jail" in answer.err, answer.err
    assert not canary.exists()


def test_policy_beneath_the_root_is_refused(learner):
    policy = learner.box.file("root/own.yaml", "version: 1\nextends: default\n", 0o600)
    answer = learner.learn("true", options=["--adr", RECORD, "--into", str(policy)])
    assert answer.status == 125 and b"inside the root" in answer.err
    assert policy.read_text(encoding="ascii") == "version: 1\nextends: default\n"
