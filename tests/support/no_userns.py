"""A machine that forbids user namespaces, made for one command by two helpers; the host is not
changed. Where the host is such a machine (tests/kernels), it is taken as it is: "here".

switch: the sysctl user.max_user_namespaces is 0 (tests/helpers/hosts/no_userns.c). container: a
seccomp filter forbids them, like that of a container engine
(tests/helpers/hosts/fake_kernel.c).
"""
import json
import os

import bwrapped
from command import check_shape, check_status
from feature import skip
from jails import Cell

CANNOT = 111
PART = ["landlock", "execs", "seccomp", "no_capabilities", "no_new_privs"]
HERE = os.environ.get("CHOKE_TEST_NO_USERNS") == "here"
WAYS = ("here",) if HERE else ("switch", "container")


def helper(box, name):
    return str(box.stage / "tests/helpers" / name)


def on_fake_kernel(box, fault, *argv, form="--json", **shape):
    """A run on a kernel with this fault. One that only pretends to filter system calls ("seccomp")
    has no jail at all."""
    command = [helper(box, "fake_kernel"), fault, *box.run_argv(argv, form=form, **shape)]
    answer = box.call(command, env=bwrapped.environment(box))
    if form == "--json":
        answer.document = json.loads(answer.out)
        check_shape(answer.document)
        check_status(answer.status, answer.document)
    return answer


class NoUserns(Cell):
    """A cell in which the native jail has no user namespaces."""

    def __init__(self, box, way):
        super().__init__(box, "native")
        self.way = "here" if HERE else way
        if self.way == "switch" and os.geteuid() != 0:
            skip("root", "only root can make a user namespace with all users in it")

    def call(self, command, env=None, **keywords):
        """Any command line on that machine, as the user of the box."""
        env = env or bwrapped.environment(self.box)
        if self.way == "here":
            return self.box.call(command, env=env, **keywords)
        if self.way == "container":
            return self.box.call([helper(self.box, "fake_kernel"), "container", *command], env=env, **keywords)
        actor = self.box.actor
        command = [helper(self.box, "no_userns"), str(actor.uid), str(actor.gid), *command]
        answer = self.box.call(command, env=env, **{**keywords, "user": 0, "group": 0, "extra_groups": []})
        if answer.status == CANNOT:
            skip("userns", answer.err.decode())
        return answer

    def run(self, *argv, jail=None, options=(), policy=None, **shape):
        command = self.box.run_argv(list(map(str, argv)), options=["--jail", jail or self.jail, *options],
                               policy=policy or self.policy, **shape)
        answer = self.call(command)
        answer.document = json.loads(answer.out)
        if "--dry-run" not in options:
            check_shape(answer.document)
            check_status(answer.status, answer.document)
        return answer

    def inside(self, *argv, **shape):
        answer = self.run(*argv, **shape)
        assert answer.outcome in ("exited", "signaled"), answer.document
        assert answer["jail"] == "native" and answer["layers"] == PART, answer.document
        return answer
