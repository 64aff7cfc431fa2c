"""The kernels and places that the suite `kernels` tries, and what must hold in each."""
import dataclasses

GUARD = [f"tests/adversarial/guard/test_guard_{name}.py"
         for name in ("loader", "userland_exec", "preload", "set_id", "descriptors", "forged_names", "opaque_scripts", "kernel_files")]
COMMAND = ["tests/adversarial/policy/test_argv0_forms.py", "tests/adversarial/policy/test_cwd_escape.py",
        "tests/adversarial/policy/test_operand_escape.py", "tests/adversarial/policy/test_planted_policy.py",
        "tests/adversarial/host/test_hostile_environment.py", "tests/adversarial/audit/test_audit_rewritten.py",
        "tests/integration/test_audit.py"]
JAILS = [f"tests/adversarial/jail/test_jail_{name}.py"
         for name in ("exec", "loader", "kernel_surfaces", "mounts", "setns", "sockets", "devices", "proc_writes", "keyrings")]
# Two tests of the log need a jail.
COMMAND_WITHOUT_A_JAIL = [*COMMAND, "-k", "not test_jail_layers_and_limits_are_recorded and "
                                    "not test_log_beneath_a_root_that_the_tool_may_write_is_refused"]
# Attacks on the jail without user namespaces. Not those that make such a machine or such a kernel themselves.
DEGRADED = ["tests/integration/test_no_namespaces.py", "-k", "not doctor and not whole_jail and not no_jail and not no_part"]
DEGRADED_FOR_USERS = [*DEGRADED[:-1], DEGRADED[-1] + " and not by_root and not the_system_owns"]
# A real door: alone, with a guard made of Python, and in the cage of guard.
DOOR = ["tests/integration/test_door.py", "tests/integration/test_guard.py"]
# In the usual run, beside all that `doctor --attack` tries: calls through the door, which succeed and are refused, and escapes.
SAMPLE = ["tests/adversarial/policy/test_argv0_forms.py", "tests/adversarial/policy/test_cwd_escape.py",
          "tests/adversarial/jail/test_jail_loader.py", "tests/adversarial/guard/test_guard_loader.py", *DOOR,
          "-k", "(argv0 or cwd or native or guard_loader or pipeline or policy_refuses or everything_is_handed_over or forged_name) "
                "and not sealed and not interpreter"]
# What qemu-user cannot run (tests/cross), and what depends on the processor: entries in assembler, filters, the stub. An
# emulated arm64 is slow, so it is not all of it.
ARM64 = {"unit": ["tests/kernels/inside/test_units.py", "-k", "seccomp or trial or execs or landlock or proof_conditions or elf or depend or stub"],
         "door": ["tests/integration/test_door.py"], "sample": SAMPLE,
         "stub": ["tests/adversarial/jail/test_jail_exec.py", "-k", "native and (itself or by_the_loader)"]}
# These attack with MFD_NOEXEC_SEAL, which came then, as did what refuses new code to a carrier without a JIT, also by
# mprotect ("protection"). Before 6.2 there is no form of the native jail without namespaces.
BEFORE_6_3 = ["-k", "not sealed and not test_from_an_interpreter and not test_refused_without_a_jit and not protection "
                    "and not without_namespaces"]
# What AppArmor does with a user namespace of an unprivileged program: it may not be made, or (as Ubuntu sets it) it has no
# capability in it. Debian's kernels mediate both, but have no switch that does it to every program: a profile does it here.
APPARMOR = "abi <abi/4.0>,\nprofile {name} flags=(attach_disconnected) {{\n  allow all,\n  {rule}\n}}\n"

# Debian's policy of SELinux: what logs in is unconfined, and may do what it could do without. Enforcing begins when there is a policy.
SELINUX = ("security=selinux", "selinux=1", "enforcing=0")
CODE_IN_MEMORY = ["tests/adversarial/guard/test_guard_userland_exec.py"]  # this policy refuses it everywhere, not only in a cage
SELINUX_CONTEXT = "unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023"


@dataclasses.dataclass
class Place:
    """jails: whether the native jail can be built for root and for a user. callers: for whom the place is described and tested.
    environment: of the tests. container: in a container of docker. selinux: rules that are added to Debian's policy of SELinux,
    which is enforced then. expected: what `doctor` must say of layers, as
    "GROUP.NAME": (holds, part of the text) for each caller who is named."""
    name: str
    title: str
    suite: str
    arch: str = "amd64"
    append: tuple = ()
    prepare: tuple = ()
    profile: str = ""
    container: bool = False
    selinux: str | None = None
    tests: dict = dataclasses.field(default_factory=dict)
    environment: dict = dataclasses.field(default_factory=dict)
    callers: tuple = ("root", "user")
    jails: tuple = ("root", "user")
    expected: dict = dataclasses.field(default_factory=dict)


def sysctl(name, value):
    return ["sysctl", "-w", f"{name}={value}"]


HELD, NO = True, False
JAILS_HOLD = {"kernel.execs": (HELD, "Landlock ABI"), "jail.native": (HELD, "proved from inside"), "jail.bwrap": (HELD, "proved from inside"),
              "jail.native-egress": (HELD, "only the proxy is reached"), "jail.bwrap-egress": (HELD, "only the proxy is reached"),
              "jail.guard": (HELD, "")}
NO_DEGRADED_FORM = {"jail.native-degraded": (NO, "ABI 3 (Linux 6.2)")}
OLD = {"kernel.execs": (NO, "too old, or was built without it"), "jail.native": (NO, "no mount_setattr (it came with Linux 5.12)"),
       "jail.bwrap": (NO, "no mount_setattr (it came with Linux 5.12)"), "jail.native-degraded": (NO, "ABI 3 (Linux 6.2)"),
       "cgroup.cgroup.kill": (NO, ""), "namespace.user": (HELD, ""), "jail.guard": (NO, "")}
BOTH = ("root", "user")


def degraded(reason, callers=BOTH, **more):
    """A place in which only the form of the native jail without namespaces can be built, for these callers."""
    layers = {"jail.native": (NO, reason), "jail.native-degraded": (HELD, "without namespaces"), "jail.guard": (NO, "")}
    return {"tests": {"degraded": DEGRADED}, "environment": {"CHOKE_TEST_NO_USERNS": "here", "CHOKE_TEST_CALLERS": " ".join(callers)},
            "jails": (), "expected": {caller: {**layers, **more} for caller in callers}}


SAMPLE_PLACE = Place("6.1", "Debian 12", "bookworm", tests={"sample": SAMPLE},
                     expected={caller: {**JAILS_HOLD, **NO_DEGRADED_FORM, "jail.guard": (HELD, "carriers can make code")} for caller in BOTH})
NEWEST = Place("newest", "Debian unstable", "sid", tests={"command": COMMAND, "door": DOOR, "jails": JAILS, "guard": GUARD},
               expected={caller: {**JAILS_HOLD, "jail.native-degraded": (HELD, "without namespaces")} for caller in BOTH})

FOR_USERS = Place("no-user-namespaces-for-users", "Debian unstable, kernel.unprivileged_userns_clone=0", "sid",
                  prepare=(sysctl("kernel.unprivileged_userns_clone", 0),),
                  **degraded("unprivileged_userns_clone is 0", ("user",), **{"namespace.user": (NO, "unprivileged_userns_clone is 0")}))
FOR_USERS.jails, FOR_USERS.tests = ("root",), {"degraded": DEGRADED_FOR_USERS}
FOR_USERS.expected["root"] = JAILS_HOLD

WHOLE = [
    Place("5.10", "Debian 11", "bullseye", jails=(), tests={"command": COMMAND_WITHOUT_A_JAIL, "refusals": ["tests/kernels/inside/test_old_kernel.py"]},
          expected={caller: OLD for caller in BOTH}),
    dataclasses.replace(SAMPLE_PLACE, tests={"command": COMMAND, "door": DOOR, "jails": [*JAILS, *BEFORE_6_3], "guard": [*GUARD, *BEFORE_6_3]}),
    NEWEST,
    dataclasses.replace(NEWEST, name="arm64", title="Debian unstable, arm64", arch="arm64", tests=ARM64),
    FOR_USERS,
    Place("no-user-namespaces", "Debian unstable, user.max_user_namespaces=0", "sid",
          prepare=(sysctl("user.max_user_namespaces", 0),),
          **degraded("max_user_namespaces is 0", **{"namespace.user": (NO, "max_user_namespaces is 0")})),
    Place("apparmor-userns", "Debian unstable, AppArmor denies user namespaces", "sid",
          profile=APPARMOR.format(name="apparmor-userns", rule="audit deny userns,"),
          **degraded("it needs a user namespace: this process has the AppArmor profile 'apparmor-userns'")),
    Place("apparmor-ubuntu", "Debian unstable, AppArmor denies capabilities in user namespaces", "sid", callers=("user",),
          profile=APPARMOR.format(name="apparmor-ubuntu", rule="audit deny capability,"),
          **{**degraded("", ("user",)), "tests": {"degraded": DEGRADED_FOR_USERS}}),
    Place("container", "Debian unstable, a container of docker", "sid", container=True, **degraded("it needs a user namespace: a container forbids it")),
    Place("selinux", "Debian unstable, SELinux enforces Debian's policy", "sid", append=SELINUX, selinux="",
          tests={"guard": [path for path in GUARD if path not in CODE_IN_MEMORY]}, expected={caller: JAILS_HOLD for caller in BOTH}),
    Place("selinux-userns", "Debian unstable, SELinux denies user namespaces", "sid", append=SELINUX,
          selinux="(deny unconfined_t self (user_namespace (create)))\n",
          **degraded(f"it needs a user namespace: this process has the SELinux context '{SELINUX_CONTEXT}'")),
    Place("no-landlock", "Debian unstable without Landlock", "sid", append=("lsm=lockdown,yama,apparmor",), jails=(),
          tests={"refusals": ["tests/kernels/inside/test_no_landlock.py"]},
          expected={caller: {"kernel.execs": (NO, "lsm=landlock"), "jail.native": (NO, "'landlock'"), "jail.native-degraded": (NO, ""),
                             "jail.guard": (NO, "'landlock'")} for caller in BOTH}),
]
