"""Promise: What each jail holds.
Attacker: the tool. Means: it reads what its user can read: keys in ~/.ssh, the machine's passwords, other repositories, root's home.

Expected: none of it is inside. What the repository itself holds can be read, and a link in it leads nowhere.
"""
import pytest


def test_home_is_not_there(cell):
    (cell.box.home / ".ssh").mkdir()
    key = cell.box.file("home/.ssh/id_ed25519", "a key", 0o600)
    cell.box.own(cell.box.home / ".ssh", 0o700)
    cell.breaks_out_only_outside("breach_files", "read", key, errnos="ENOENT")


def test_home_is_a_scratch_directory(cell):
    answer = cell.succeeds_inside("say_env")
    assert b"HOME=/tmp/probe" in answer.stream("stdout").split(b"\0") + answer.stream("stdout").split(b"\n")


@pytest.mark.parametrize("path", ["/etc/shadow", "/etc/gshadow", "/etc/ssh/sshd_config", "/root/.bashrc", "/root/.profile"])
def test_system_secrets_are_not_there(root_cell, path):
    root_cell.refused_inside("breach_files", "read", path, errnos="ENOENT")


def test_root_could_read_shadow_outside(root_cell):
    root_cell.breaks_out_only_outside("breach_files", "read", "/etc/shadow", errnos="ENOENT")


@pytest.mark.parametrize("path", ["/root", "/home", "/var", "/run", "/sys", "/mnt", "/opt", "/srv", "/boot"])
def test_directories_of_the_host_are_not_there(root_cell, path):
    root_cell.refused_inside("breach_files", "list", path, errnos="ENOENT")


@pytest.mark.parametrize("root_cell", ["native"], indirect=True)
def test_terminals_of_the_host_are_not_there(root_cell):
    """bwrap has its own, empty; test_jail_devices.py looks at it."""
    root_cell.refused_inside("breach_files", "list", "/dev/pts", errnos="ENOENT")


def test_private_keys_of_the_machine_are_not_there(root_cell):
    """Beside the certificates, which are."""
    root_cell.succeeds_inside("breach_files", "list", "/etc/ssl/certs")
    root_cell.breaks_out_only_outside("breach_files", "list", "/etc/ssl/private", errnos="ENOENT")


def test_old_root_is_empty(root_cell):
    """The host's tree was there while the jail was built."""
    for path in ("/.old/etc/passwd", "/.old/usr", "/.old/proc"):
        root_cell.refused_inside("breach_files", "list", path, errnos="ENOENT")


def test_other_repository_is_not_there(cell):
    secret = cell.box.file("outside/source.c", "of another repository")
    cell.breaks_out_only_outside("breach_files", "read", secret, errnos="ENOENT")
    cell.breaks_out_only_outside("breach_files", "read", "../outside/source.c", errnos="ENOENT")


def test_link_in_the_repository_leads_nowhere(cell):
    secret = cell.box.file("outside/source.c", "of another repository")
    for name, target in (("absolute", secret), ("relative", "../outside/source.c"), ("proc", f"/proc/self/root{secret}")):
        (cell.box.root / name).symlink_to(target)
        cell.breaks_out_only_outside("breach_files", "read", name, errnos="ENOENT")


def test_working_directory_beneath_does_not_lead_out(cell):
    """The whole root is inside, and nothing above it."""
    deep = cell.box.directory("root/deep")
    cell.box.file("root/file", "text")
    cell.box.file("policy/other", "text")
    cell.succeeds_inside("breach_files", "read", "../file", cwd=deep)
    cell.breaks_out_only_outside("breach_files", "read", "../../policy/other", cwd=deep, errnos="ENOENT")
