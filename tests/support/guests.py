"""Virtual machines with kernels of Debian: qemu, emulated. KVM is not on every machine, and never for another architecture.

A guest has three disks: a small Debian (one for all kernels of an architecture), the job of the test, and room for the
results. tests/kernels/first_process.c is its first process. Nothing is shared with this machine while it runs, and it has
no network.
"""
import gzip
import hashlib
import inspect
import io
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import time

import debian
from feature import skip
from registry import kept_as

TOP = pathlib.Path(__file__).parents[2]
FIRST_PROCESS = TOP / "tests/kernels/first_process.c"
ROOT_SUITE = "bookworm"
ESSENTIAL = ("base-files base-passwd bash coreutils dash debianutils diffutils findutils grep gzip hostname libc-bin login mount "
             "mawk ncurses-base passwd perl-base sed tar util-linux").split()
PACKAGES = ("bubblewrap ca-certificates git iproute2 jq libbearssl0 libc-ares2 libcyaml1 libjansson4 libseccomp2 libsodium23 libyaml-0-2 "
            "procps python3 python3-jsonschema python3-hypothesis python3-pytest python3-pytest-xdist python3-yaml ripgrep "
            "strace").split()
MODULES = ("virtio_pci virtio_blk virtio_mmio crc32c_generic libcrc32c ext4 overlay binfmt_misc af_packet vsock unix "
           "dummy").split()
RESULTS_BYTES = 64 << 20
SECTOR = 512


class Machine:
    """How qemu is called for an architecture."""

    def __init__(self, arch, qemu, compiler, console, *options):
        self.arch, self.qemu, self.compiler, self.console, self.options = arch, qemu, compiler, console, options


MACHINES = {
    "amd64": Machine("amd64", "qemu-system-x86_64", ["gcc"], "ttyS0", "-cpu", "max", "-smp", "2"),
    "arm64": Machine("arm64", "qemu-system-aarch64", ["aarch64-linux-gnu-gcc", f"--sysroot={TOP}/third_party/arm64/root"], "ttyAMA0",
                     "-machine", "virt", "-cpu", "cortex-a72", "-smp", "2"),
}


def need_command(name):
    path = shutil.which(name)
    if path is None:
        skip("qemu", f"'{name}' is not installed")
    return path


# ---- kernels

def module_files(tree):
    """Name to file; names are written with underscores, as modinfo does."""
    return {path.name.split(".ko")[0].replace("-", "_"): path for path in tree.rglob("*.ko*")}


def module_bytes(path):
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else gzip.decompress(data) if path.suffix == ".gz" else data


def in_order(names, files):
    """These modules that the kernel does not have built in, each after what it needs: [(name, bytes)]."""
    order = {}

    def add(name):
        name = name.replace("-", "_")
        if name in order or name not in files:
            return
        data = module_bytes(files[name])
        needed = re.search(rb"(?:^|\0)depends=([^\0]*)\0", data)
        for other in needed.group(1).decode().split(",") if needed else ():
            add(other)
        order[name] = data
    for name in names:
        add(name)
    return list(order.items())


def kernel(suite, arch) -> pathlib.Path:
    """A directory with vmlinuz, config, version, and modules/ with the file order."""
    package = f"linux-image-{arch}"

    def fetch(directory):
        archives = debian.installed([package], suite, arch, directory)
        tree, ready = directory / "tree", directory / "ready"
        tree.mkdir()
        debian.unpack([path for path in archives if path.name.startswith("linux-")], tree)
        (ready / "modules").mkdir(parents=True)
        image = next(path for path in sorted(tree.rglob("vmlinuz*")) if path.is_file())
        shutil.copy(image, ready / "vmlinuz")
        shutil.copy(next(path for path in sorted(tree.rglob("config*")) if path.is_file() and ".ko" not in path.name), ready / "config")
        version = next(tree.rglob("modules.builtin")).parent.name
        archive = next(path for path in archives if path.name.startswith(f"linux-image-{version}_"))
        (ready / "version").write_text(f"{version} ({archive.name.split('_')[1]})\n", encoding="ascii")
        modules = in_order(MODULES, module_files(tree))
        for name, data in modules:
            (ready / "modules" / f"{name}.ko").write_bytes(data)
        (ready / "modules/order").write_text("".join(f"{name}.ko\n" for name, _ in modules), encoding="ascii")
        return ready
    return kept_as(f"kernel-{suite}-{arch}", fetch)


# ---- disks

def add_entry(archive, name, mode, data=b""):
    """One file of a cpio archive in the form that kernels read ("newc")."""
    fields = (len(archive) + 1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    archive.append(head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4))


def initial_files(directory, machine, image):
    """The initial file system of the kernel in the directory: the first process, and modules."""
    program = compiled(machine)
    archive = []
    add_entry(archive, "init", 0o100755, program.read_bytes())
    add_entry(archive, "modules", 0o40755)
    for path in sorted((directory / "modules").iterdir()):
        add_entry(archive, f"modules/{path.name}", 0o100644, path.read_bytes())
    add_entry(archive, "TRAILER!!!", 0)
    image.write_bytes(gzip.compress(b"".join(archive), 1))


def compiled(machine):
    name = f"first-process-{hashlib.sha256(FIRST_PROCESS.read_bytes()).hexdigest()[:16]}-{machine.arch}"

    def fetch(directory):
        (directory / "ready").mkdir()
        need_command(machine.compiler[0])
        subprocess.run([*machine.compiler, "-std=gnu17", "-O1", "-D_GNU_SOURCE", "-static", FIRST_PROCESS,
                        "-o", directory / "ready/first_process"], check=True)
        return directory / "ready"
    return kept_as(name, fetch) / "first_process"


def make_disk(tree, image, spare_bytes):
    used = sum(path.lstat().st_size // 4096 * 4096 + 8192 for path in tree.rglob("*"))
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-E", "root_owner=0:0,lazy_itable_init=1", "-d", tree, image,
                    str((used + spare_bytes) // 1024 + 4096)], check=True, stdin=subprocess.DEVNULL)


def complete(root):
    """What the scripts of the packages would have done, as far as tests need it."""
    for name in ("proc", "sys", "dev", "tmp", "run", "job", "results", "opt", "home", "root"):
        (root / name).mkdir(exist_ok=True)
    (root / "etc/resolv.conf").touch()
    shutil.copy(root / "usr/share/base-passwd/passwd.master", root / "etc/passwd")
    shutil.copy(root / "usr/share/base-passwd/group.master", root / "etc/group")
    lines = (root / "etc/passwd").read_text(encoding="ascii").splitlines()
    (root / "etc/shadow").write_text("".join(f"{line.split(':')[0]}:*:19000:0:99999:7:::\n" for line in lines), encoding="ascii")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n", encoding="ascii")
    (root / "etc/hostname").write_text("guest\n", encoding="ascii")
    for name, target in (("sh", "dash"), ("awk", "mawk")):
        (root / "usr/bin" / name).unlink(missing_ok=True)
        (root / "usr/bin" / name).symlink_to(target)
    for path in ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info"):
        shutil.rmtree(root / path, ignore_errors=True)


def debian_disk(arch, more=()) -> pathlib.Path:
    """The image of a small Debian, with more packages."""
    digest = hashlib.sha256(" ".join([*ESSENTIAL, *PACKAGES, *more, inspect.getsource(complete)]).encode()).hexdigest()[:12]

    def fetch(directory):
        root, ready = directory / "root", directory / "ready"
        for name in ("bin", "sbin", "lib", "lib64"):
            (root / "usr" / name).mkdir(parents=True)
            (root / name).symlink_to(f"usr/{name}")
        debian.unpack(debian.installed([*ESSENTIAL, *PACKAGES, *more], ROOT_SUITE, arch, directory), root)
        complete(root)
        ready.mkdir()
        make_disk(root, ready / "disk", 64 << 20)
        return ready
    return kept_as(f"guest-{ROOT_SUITE}-{arch}-{digest}", fetch) / "disk"


def apparmor_parser() -> pathlib.Path:
    """A directory with a parser of profiles that knows user namespaces (4.0 and newer do), with its C library: run it with
    its own loader."""
    parts = ("apparmor", "libapparmor1", "libc6", "libgcc-s1", "libstdc++6")

    def fetch(directory):
        archives = debian.installed(["apparmor"], "sid", "amd64", directory)
        (directory / "ready").mkdir()
        debian.unpack([path for path in archives if path.name.split("_")[0] in parts], directory / "ready")
        for name in ("share", "lib/python3"):
            shutil.rmtree(directory / "ready/usr" / name, ignore_errors=True)
        return directory / "ready"
    return kept_as("apparmor-sid", fetch)


def selinux_policy(rules) -> pathlib.Path:
    """A directory with Debian's policy of SELinux and these rules (in CIL), as the package's installation makes it: policy, and
    file_contexts."""
    digest = hashlib.sha256(rules.encode()).hexdigest()[:12]

    def fetch(directory):
        root, ready = directory / "root", directory / "ready"
        for name in ("bin", "sbin", "lib", "lib64"):
            (root / "usr" / name).mkdir(parents=True)
            (root / name).symlink_to(f"usr/{name}")
        debian.unpack(debian.installed(["selinux-policy-default"], "sid", "amd64", directory), root)
        for name in ("var/lib/selinux", "tmp", "dev"):
            (root / name).mkdir(parents=True, exist_ok=True)
        (root / "etc/selinux/config").write_text("SELINUX=enforcing\nSELINUXTYPE=default\n", encoding="ascii")
        (root / "tmp/more.cil").write_text(rules, encoding="ascii")
        place = "usr/share/selinux/default"
        modules = [f"/{place}/{name}.pp.bz2" for name in (root / place / ".modules").read_text(encoding="ascii").split()]
        subprocess.run(["unshare", "--map-root-user", f"--root={root}", "/usr/sbin/semodule", "--noreload", "--store=default",
                        *(word for path in [*modules, *(["/tmp/more.cil"] if rules else [])] for word in ("-i", path))],
                       check=True, capture_output=True, stdin=subprocess.DEVNULL)
        ready.mkdir()
        [policy] = (root / "etc/selinux/default/policy").glob("policy.*")
        shutil.copy(policy, ready / "policy")
        shutil.copy(root / "etc/selinux/default/contexts/files/file_contexts", ready / "file_contexts")
        return ready
    return kept_as(f"selinux-sid-{digest}", fetch)


# ---- a run

class Ended:
    """What is left of a guest: its console, and its results by name."""

    def __init__(self, console, results):
        self.console, self.results = console, results

    def text(self, name):
        assert name in self.results, f"the guest has no result '{name}'; its console:\n{self.console[-4000:]}"
        return self.results[name].decode()


def read_results(path):
    data = path.read_bytes()
    if not data.strip(b"\0"):
        return {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {os.path.normpath(member.name): archive.extractfile(member).read() for member in archive if member.isfile()}


def start(kernel_directory, machine, disk, job, place, append=(), timeout_s=600) -> Ended:
    """Boots, runs /job/run of the job's directory, and returns when the guest has switched itself off."""
    need_command(machine.qemu)
    initial_files(kernel_directory, machine, place / "initrd")
    make_disk(job, place / "job", 16 << 20)
    with open(place / "results", "wb") as results:
        results.truncate(RESULTS_BYTES)
    command = [machine.qemu, "-accel", "tcg,thread=multi", *machine.options, "-m", "2048", "-nographic", "-no-reboot", "-nic", "none",
               "-kernel", kernel_directory / "vmlinuz", "-initrd", place / "initrd", "-append",
               " ".join([f"console={machine.console}", "quiet", "panic=-1", *append])]
    for image, snapshot in ((disk, "on"), (place / "job", "off"), (place / "results", "off")):
        command += ["-drive", f"file={image},format=raw,if=virtio,snapshot={snapshot}"]
    began = time.monotonic()
    with open(place / "console", "wb") as console:
        try:
            subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=console, stderr=console, timeout=timeout_s,
                           check=False)
        except subprocess.TimeoutExpired:
            pass  # the missing results say so, with the console
    text = (place / "console").read_bytes().decode("utf-8", "replace")
    return Ended(f"{text}\n{time.monotonic() - began:.0f} s of {timeout_s}", read_results(place / "results"))
