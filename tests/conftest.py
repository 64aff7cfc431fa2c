"""Fixtures: a staged copy of the command and of the victims, a caller (root, or an ordinary user),
and one box per test.
"""
import contextlib
import ctypes
import functools
import os
import pathlib
import pwd
import shutil
import signal
import sys
import tempfile
import uuid

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "support"))

import cgroups  # noqa: E402
import daemon  # noqa: E402
import nodes  # noqa: E402
import processes  # noqa: E402
import registry  # noqa: E402
import users  # noqa: E402
from command import VICTIMS, Actor, Box  # noqa: E402
from egress import EgressBox  # noqa: E402
from feature import full, sanitized, skip  # noqa: E402
from gates import Gate, ScriptedServer  # noqa: E402
from guards import Guarded  # noqa: E402
from jails import JAILS, Cell, EgressCell  # noqa: E402
from machine import MachineBox  # noqa: E402
from processes import describe, wait_until  # noqa: E402
from network import Network  # noqa: E402
from scanners import ScannersBox  # noqa: E402
from npm_registry import NpmRegistry  # noqa: E402
from site_proxy import SiteProxy  # noqa: E402
from tls_hosts import HEADER, VALUE, Authority, SecureHost, answer_heads  # noqa: E402
from tls_hosts import context as tls_context  # noqa: E402
from upstreams import HOSTS  # noqa: E402

PR_SET_CHILD_SUBREAPER = 36
HUNG_S = 3600 if full() else 900  # no test takes a third of it

# pytest-xdist keeps the tests of one file in one process, because they share fixtures. These files
# share nothing and take long, so their tests are spread.
APART = {"test_catalog_build.py", "test_catalog_java.py", "test_catalog_python.py", "test_collect_slices.py", "test_cpu_hog.py",
         "test_doctor.py", "test_foreign_proc.py", "test_hostile_history.py", "test_scanner_semgrep.py",
         "test_git_repository.py", "test_grammar_properties.py", "test_jail_races.py", "test_shortage.py", "test_overlay_tree.py", "test_swapped_binary.py"}

# These files share a fixture that is expensive to make: one daemon serves them all.
TOGETHER = {"test_default_docker.py": "docker", "test_gather_trace.py": "docker", "test_gather_trace_fetch.py": "docker",
            "test_gather_trace_forged.py": "docker", "test_gather_trace_tracer.py": "docker",
            "test_gather_trace_escape.py": "docker", "test_gather_trace_names.py": "docker",
            "test_node.py": "node", "test_node_documents.py": "node"}

# The processes get groups and lone tests in this order, then the others: if a long one came last, all processes but one
# would wait for its end.
LONG = ("docker", "node", "test_catalog_java.py", "test_catalog_build.py", "test_catalog_python.py", "test_git_repository.py",
        "test_fleet_slurm.py", "test_egress.py", "test_npm_registry.py", "test_grammar_properties.py", "test_gather_repositories.py",
        "test_shortage.py", "test_overlay_tree.py", "test_default_syntax.py", "test_cpu_hog.py", "test_egress_around.py",
        "test_no_namespaces.py", "test_collect_slices.py", "test_git.py", "test_jail_races.py", "test_jail_exec.py",
        "test_egress_refused.py", "test_doctor.py", "test_doctor_attack.py", "test_hostile_cache.py", "test_hostile_npmrc.py",
        "test_default_npm.py", "test_overlay.py", "test_default_tools.py", "test_lock.py", "test_gather_probes.py",
        "test_jail_full_disk.py", "test_jailed_tools.py", "test_gather_view.py", "test_readme.py", "test_foreign_proc.py")
RANKS = {name: rank for rank, name in enumerate(LONG)}

# These tests bound the time of a run and mostly wait. They run beside each other, and beside
# nothing else.
TIMED = {"test_process_groups.py", "test_setsid_daemon.py", "test_sigterm_ignored.py", "test_killed_warden.py",
         "test_stopped_tool.py", "test_stopped_warden.py",
         "test_everything_holds_here", "test_text_names_each_promise", "test_attacker_that_succeeds_is_broken",
         "test_missing_layers_are_named",  # of test_doctor_attack.py: all attempts together have a time
         "test_end_of_input_ends_everything", "test_a_killed_client_ends_everything",  # of test_mcp_end.py
         "test_a_client_that_does_not_read_stops_the_server_and_not_more",
         "test_a_file_written_just_now_is_not_remembered", "test_a_signal_ends_the_wait_for_versions",
         "test_a_timeout_gives_the_tool_its_time_and_ends_the_rest", "test_daemons_die_at_the_timeout",
         "test_endless_output_ends_at_the_timeout", "test_freed_context_does_not_go_on_copying",
         "test_group_is_killed_at_the_timeout", "test_many_hung_probes_do_not_add_up",
         "test_install_without_egress_fails_within_two_seconds_and_says_what_to_add",
         "test_package_files_do_not_hold_the_caller_up", "test_a_source_that_is_silent_does_not_hold_the_run",
         "test_returned_by_one_and_a_half_times_the_timeout", "test_timeout",
         "test_timeout_from_the_policy", "test_timeout_holds"}
# These are not repeated under the sanitizers, except in a full run: they take long, and what runs
# there of ours is reached by another test under ASan. For each group: where.
#
# What a container did is read by evidence/trace.c and gather/trace/*.c. The witness, the tracer and
# the attackers in the container are never sanitized. test_gather_trace.py has the build, the run, the
# end, a timeout (which removes the container as a signal does) and a failed build.
# test_evidence_trace.c, test_gather_dockerfile.c and the fuzzers evidence and gather_dockerfile have
# forged lines, names, signals and every end.
PLAIN = {"test_gather_trace_escape.py", "test_gather_trace_fetch.py", "test_gather_trace_forged.py",
         "test_gather_trace_names.py", "test_gather_trace_tracer.py", "test_container_ends_with_its_client",
         "test_container_ends_with_the_command", "test_end_by_a_signal_is_reported",
         "test_program_that_stays_is_ended_when_its_time_is_over"}
# Generators of documents, written in Python. Of ours they only run "doctor --attack --json", as
# test_doctor_attack.py does (asan-timed).
# The nodes of a cluster gather; test_fleet.py has the same workers.
PLAIN |= {"test_fleet_slurm.py", "test_catalog_slurm.py"}
PLAIN |= {"test_attacks_page.py", "test_every_probe_has_a_page_in_step_with_it", "test_a_page_out_of_step_is_found"}
# Other programs do the work: attackers without a jail, npm without us, a suite of a package from npm, and node, npm and git in a
# tunnel of the proxy, which curl and the clients of test_gate.py use too. A script of git and
# "policy diff" (test_policy_review.py has its cases), the lock of git (test_lock.py has small tools,
# test_doctor.py the real git), and a project with every tool (the readers have recordings in
# test_evidence*.c and the fuzzer evidence).
PLAIN |= {"test_attempts_succeed_without_a_jail", "test_git_clone", "test_node_fetch", "test_npm_install",
          "test_as_many_tests_pass_as_outside", "test_nodes_own_fetch_uses_the_proxy_or_fails", "test_plain_npm_runs_scripts",
          "test_project_is_reported_the_same_twice", "test_recipe_compares_with_the_merge_base",
          "test_recipe_gates_a_pull_request", "test_the_default_policy_locks_the_real_git",
          "test_project_with_many_dependencies_is_installed_and_tested"}
# node and the SDK from npm are the client; test_mcp.py has every method in each revision.
PLAIN |= {"test_mcp_clients.py"}
# Many inputs for one path through the code. Unit tests and fuzzers have them under ASan: quote
# (control characters), secret, args and beneath (operands, spellings), http, socks and rule (refused
# destinations), capture (the tail; test_flood.py has it end to end), changes (a list that is cut).
# The tests beside these in the same files have some. test_egress.py has a reported attempt.
PLAIN |= {"test_no_hidden_character_is_shown", "test_values_of_options_are_escaped", "test_ordinary_vectors_are_no_credentials",
          "test_operand_escape.py", "test_egress_refused.py", "test_egress_reported_attempts.py", "test_over_the_cap_the_tail_is_kept",
          "test_default_cap_is_64_mib", "test_any_name_of_a_file_inside_passes",
          "test_no_spelling_of_another_option_is_allowed",
          "test_allowed_options_are_listed_as_the_tool_reads_them", "test_reference_readers_agree_where_they_must",
          "test_allowed_vectors_neither_write_nor_read_elsewhere", "test_cut_list_still_has_what_runs_later",
          "test_resources_are_measured"}
# gitleaks, and stand-ins of other scanners, with many arguments; test_scanners.py has each of them once under ASan.
PLAIN |= {"test_scanner_gitleaks.py", "test_scanner_bill.py", "test_scanner_semgrep.py", "test_hostile_history.py"}
# An interpreter is not sanitized; the suite asan-python loads the runtime into one.
PLAIN |= {"test_python.py"}
# strace makes each system call of the command fail, and LeakSanitizer does not work in a process that is traced.
# test_no_memory.py and test_no_descriptors.py have shortages under ASan.
PLAIN |= {"test_shortage_of_a_look.py"}
# A browser does the work, with a page that the command has written before. Under ASan test_report.py writes the same kinds of pages,
# and the fuzzer report hostile ones.
PLAIN |= {"test_report_page.py", "test_report_markup.py"}
# The addon for Node under ASan needs one version of Node. Types, documents and examples are for people.
PLAIN |= {"test_with_other_versions_of_node", "test_package_has_the_addon_and_no_script",
          "test_addon_exports_its_entry_only", "test_types_say_what_is_accepted", "test_node_documents.py"}
# These cannot be under the sanitizers: the command is dynamic there, because the runtime needs the loader, and the runtime does
# not start in Bun and Deno.
UNSANITIZED = {"test_preloaded_command.py", "test_with_other_runtimes"}
# These take the whole machine and bound the time of a run: nothing runs beside them.
ALONE = {"test_fork_relay.py", "test_fork_bomb.py", "test_fork_chain.py", "test_bomb_stays_small", "test_fork_bomb_dies",
         "test_fork_bomb_is_bounded", "test_thousand_in_flight", "test_end_of_input_ends_everything"}

# With the numbers of a full run these take every process that the machine has.
ALONE |= {"test_many_at_once", "test_killed_before_they_are_answered"} if full() else set()


# Only in a full run. The files say which others go through the same code in every run.
FULL = {"test_guard_agents.py", "test_mcp_agents.py", "test_dist_twice.py"}


def pytest_configure(config):
    if "CHOKE_BUILD" not in os.environ:
        raise pytest.UsageError("CHOKE_BUILD must name the build directory")
    config.addinivalue_line("markers", "xdist_group(name): runs in the same process as others of the name")
    config.addinivalue_line("markers", "timed: runs beside others of the kind only")
    config.addinivalue_line("markers", "alone: nothing runs beside it")
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):  # nohup and a shell's & start programs with these signals ignored
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise pytest.UsageError("cannot become a child subreaper")
    config.add_cleanup(functools.partial(cgroups.leave, cgroups.enter()))


def pytest_ignore_collect(collection_path, config):
    """Skips the collection of files that cannot hold the selected kind: each process of a session
    would read them all."""
    if collection_path.name in FULL and not full():
        return True
    wanted = {"timed": TIMED, "alone": ALONE}.get(config.option.markexpr)
    if wanted is None or collection_path.suffix != ".py" or collection_path.name in wanted:
        return None
    text = collection_path.read_text(encoding="utf-8")
    return None if any(f"def {name}(" in text for name in wanted) else True


def is_repetition(item) -> bool:
    names = {item.path.name, item.originalname}
    return sanitized() and bool(names & UNSANITIZED or not full() and names & PLAIN)


def rank_of(item) -> int:
    return RANKS.get(TOGETHER.get(item.path.name, item.path.name), len(RANKS))


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks for its groups
def pytest_collection_modifyitems(config, items):
    left_out = [item for item in items if is_repetition(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not is_repetition(item)]
    for item in items:
        names = {item.path.name, item.originalname}
        if names & ALONE:
            item.add_marker(pytest.mark.alone)
        elif names & TIMED:
            item.add_marker(pytest.mark.timed)
        if item.path.name not in APART:
            group = TOGETHER.get(item.path.name, item.path.name)
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=rank_of)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):  # pylint: disable=unused-argument
    """A test that waits for what never comes fails, and the others run. Without this the whole session would be ended."""
    def expired(*_):
        raise TimeoutError(f"the test has not ended after {HUNG_S} s")
    before = signal.signal(signal.SIGALRM, expired)
    signal.alarm(HUNG_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def stage():
    """Copies the command, the libraries and the helpers, at the same relative paths, to a
    directory that every user can read. CHOKE_TEST_STAGE: the directory for it."""
    build = pathlib.Path(os.environ["CHOKE_BUILD"])
    if "CHOKE_TEST_STAGE" in os.environ:  # short: some messages and addresses that hold a path have a limit
        top = pathlib.Path(os.environ["CHOKE_TEST_STAGE"], str(os.getpid()))
        top.mkdir()
    else:
        top = pathlib.Path(tempfile.mkdtemp(prefix="choke-test-"))
    top.chmod(0o755)
    try:
        wanted = [build / "chokepoint", build / "chokepoint-attack", *(build / "src").glob("lib*.so*"),
                  *(build / "tests/helpers").iterdir(), *(build / "examples").iterdir(),
                  *(build / "bindings/python/chokepoint").iterdir()]
        for path in wanted:
            if path.is_file() and (".so" in path.name or ".py" in path.name or os.access(path, os.X_OK)):
                target = top / path.relative_to(build)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
        (top / "bin").mkdir()
        for name in VICTIMS:
            shutil.copy(build / "tests/helpers" / name, top / "bin" / name)
        for parent, _, files in os.walk(top):
            for path in [parent, *(os.path.join(parent, name) for name in files)]:
                os.chmod(path, 0o755)
        yield top
    finally:
        shutil.rmtree(top)


@pytest.fixture(scope="session")
def registry_tools(stage):
    """A directory with tools from the npm registry."""
    return registry.install(stage)


@pytest.fixture(scope="session")
def npm_registry(tmp_path_factory):
    """A registry of npm on loopback that has nothing yet."""
    server = NpmRegistry(tmp_path_factory.mktemp("registry"))
    server.wait()
    yield server
    server.close()


@pytest.fixture(scope="session")
def mocha_registry(npm_registry):
    """The same, with mocha and all that it needs."""
    npm_registry.publish_installed(registry.fetched(registry.MOCHA) / "node_modules")
    return npm_registry


@pytest.fixture(scope="session")
def scripts_registry(npm_registry):
    """The same, with a package that has scripts and a program."""
    npm_registry.publish_scripted()
    return npm_registry


@pytest.fixture(scope="session")
def node_package(stage):
    """A directory with the installed package for Node and its tests."""
    return nodes.installed(stage)


@pytest.fixture(scope="session")
def ordinary():
    """A user that no other test process uses."""
    if os.geteuid() != 0:
        yield Actor("user", os.geteuid(), os.getegid())
        return
    if not users.possible():
        skip("user", "useradd is missing")
    with users.one() as name:
        entry = pwd.getpwnam(name)
        yield Actor("user", entry.pw_uid, entry.pw_gid)


@pytest.fixture
def superuser():
    if os.geteuid() != 0:
        skip("root", "the tests do not run as root")
    return Actor("root", 0, 0)


def make_box(stage, actor, make=None):
    base = pathlib.Path(tempfile.mkdtemp(prefix="box-", dir=stage))
    base.chmod(0o755)
    return make(base) if make is not None else Box(stage, actor, base)


# The sanitizers see the same code for every caller, and nearly the same for every jail:
# test_bwrap.py covers the rest.
CALLERS = os.environ["CHOKE_TEST_CALLERS"].split() if "CHOKE_TEST_CALLERS" in os.environ else ["user"] if sanitized() else ["root", "user"]
CELLS = JAILS if full() or not sanitized() else ("native",)


@pytest.fixture(params=CALLERS)
def box(request, stage):
    """A box for each kind of caller."""
    yield from box_of(stage, request.getfixturevalue({"root": "superuser", "user": "ordinary"}[request.param]))


@pytest.fixture(params=CALLERS if full() else ["user"])
def once_box(request, stage):
    """For tests that take long and are the same for every caller; the test says why. A full run
    has every caller."""
    yield from box_of(stage, request.getfixturevalue({"root": "superuser", "user": "ordinary"}[request.param]))


@pytest.fixture
def user_box(stage, ordinary):
    yield from box_of(stage, ordinary)


@pytest.fixture
def root_box(stage, superuser):
    yield from box_of(stage, superuser)


@pytest.fixture
def machine_box(stage, superuser, ordinary):  # pylint: disable=unused-argument
    """An ordinary caller on a machine with its own policy. Only root can make such a machine."""
    yield from box_of(stage, ordinary, lambda base: MachineBox(stage, ordinary, base))


@pytest.fixture
def root_machine_box(stage, superuser):
    """The same for root."""
    yield from box_of(stage, superuser, lambda base: MachineBox(stage, superuser, base))


@pytest.fixture(params=CALLERS)
def scanners_box(request, stage, superuser):  # pylint: disable=unused-argument
    """Each kind of caller on a machine with its own /usr/local and /opt. Only root can make such a machine."""
    actor = request.getfixturevalue({"root": "superuser", "user": "ordinary"}[request.param])
    yield from box_of(stage, actor, lambda base: ScannersBox(stage, actor, base))


@pytest.fixture(scope="session")
def cage_victims(stage):
    """Victims as carriers: a cage has its own /tmp, so what may be executed in it is elsewhere."""
    with tempfile.TemporaryDirectory(prefix="choke-test-", dir="/opt" if os.geteuid() == 0 else pathlib.Path.home()) as name:
        path = pathlib.Path(name)
        path.chmod(0o755)
        for victim in VICTIMS:
            shutil.copy(stage / "bin" / victim, path / victim)
        yield path


@pytest.fixture
def guarded(box, cage_victims):
    """Programs in the cage of guard, for each kind of caller."""
    return Guarded(box, cage_victims)


@pytest.fixture
def once_guarded(once_box, cage_victims):
    """The same for one kind of caller (once_box)."""
    return Guarded(once_box, cage_victims)


@pytest.fixture(params=CELLS)
def cell(request, box):
    """Every jail, for each kind of caller."""
    return Cell(box, request.param)


@pytest.fixture(params=CELLS)
def once_cell(request, once_box):
    """Every jail, for one kind of caller (once_box)."""
    return Cell(once_box, request.param)


@pytest.fixture(params=CELLS)
def egress_cell(request, box):
    """Every jail with egress, for each kind of caller."""
    return EgressCell(box, request.param)


@pytest.fixture(params=CELLS)
def root_cell(request, root_box):
    """Every jail, for attacks that only root can make without a jail."""
    return Cell(root_box, request.param)


@pytest.fixture(scope="session")
def daemon_asked():
    """Records what the daemon of docker_socket asks other machines for."""
    with daemon.asked() as server:
        yield server


@pytest.fixture(scope="session")
def docker_socket(ordinary, daemon_asked):
    """A docker daemon for this session, for root and the ordinary user."""
    with daemon.running(daemon_asked.env) as path:
        path.parent.chmod(0o711)
        os.chown(path, ordinary.uid, ordinary.gid)
        yield path


@pytest.fixture(scope="session")
def network(stage):
    """A private network for this session, with hosts in it."""
    if os.geteuid() != 0:
        skip("root", "namespaces for the servers are made by root")
    base = stage / "network"
    base.mkdir()
    made = Network(base)
    yield made
    made.close()


@pytest.fixture
def gates(stage, network):
    """Makes gates of the proxy in the private network, without a jail."""
    made = []

    def make(*rules, **settings):
        made.append(Gate(stage, network, *rules, **settings))
        return made[-1]
    yield make
    for gate in made:
        gate.events()


@pytest.fixture
def scripted_servers(network):
    """Makes hosts in the private network that do what a test says."""
    made = []

    def make(serve):
        made.append(ScriptedServer(network, serve))
        return made[-1]
    yield make
    for scripted_server in made:
        scripted_server.close()


@pytest.fixture(scope="session")
def authority(stage):
    """Signs certificates of hosts."""
    return Authority(stage)


@pytest.fixture
def secure_hosts(network, authority):
    """Makes hosts in the private network that speak TLS; the first one has a certificate of the authority."""
    made = []

    def make(serve=None, files=None, **versions):
        made.append(SecureHost(network, serve or answer_heads(), tls_context(files or authority.sign(), **versions)))
        return made[-1]
    yield make
    for host in made:
        host.close()


@pytest.fixture
def secret_gates(gates, authority):
    """Makes gates that add a secret to requests for a host."""
    def make(host, *rules, header=HEADER, value=VALUE, **settings):
        return gates("--secret", f"{host.target},{header}={value}", "--secret-ca", str(authority.pem), host.target, *rules,
                     **settings)
    return make


@pytest.fixture
def proxies(network):
    """Makes proxies of a site in the private network. The resolver is not asked: they know the hosts themselves."""
    made = []

    def make(**settings):
        made.append(SiteProxy(network, resolve=HOSTS, **settings))
        return made[-1]
    yield make
    for proxy in made:
        proxy.close()


@pytest.fixture(params=CALLERS)
def network_box(request, stage, network):
    """A caller of each kind, in the private network."""
    actor = request.getfixturevalue({"root": "superuser", "user": "ordinary"}[request.param])
    yield from box_of(stage, actor, lambda base: network.box(stage, actor, base))


@pytest.fixture(params=CELLS)
def way(request, network, network_box):
    """Every jail, for each kind of caller, with egress. The log of the network is empty when the
    test starts."""
    network.take()
    return EgressBox(network_box, request.param)


def box_of(stage, actor, make=None):
    made = make_box(stage, actor, make)
    try:
        yield made
    finally:
        for process in made.started:
            if process.poll() is None:
                process.kill()
                process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe:
                    pipe.close()
        shutil.rmtree(made.base)


@pytest.fixture
def marker():
    """A string that no other process has among its arguments."""
    return "marker-" + uuid.uuid4().hex


@pytest.fixture(autouse=True)
def nothing_is_left():
    """R19, after every test: no tool, no warden and no keeper is left."""
    processes.begin()
    yield
    try:
        wait_until(processes.nothing_runs, "nothing is left running")
    except AssertionError:
        left = processes.of_this_test()
        said = describe(left)
        for pid in left:  # they are our children, and must not disturb the next test
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        pytest.fail("left running: " + said)
