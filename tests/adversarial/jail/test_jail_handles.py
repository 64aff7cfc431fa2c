"""Promise: What each jail holds.
Attacker: the tool, as root. Means: open_by_handle_at (known as shocker): a file of the file system
that the repository is on, by its inode number, wherever it is.

Expected: refused. The handle of a visible file is refused too.
"""
import pathlib
import tempfile


def test_hidden_file_is_not_opened(root_cell):
    """On a disk: in memory the number of an inode is not enough for a handle."""
    with tempfile.TemporaryDirectory(prefix="choke-test-", dir="/var/tmp") as directory:
        secret, root = pathlib.Path(directory, "secret"), pathlib.Path(directory, "root")
        secret.write_text("of another repository", encoding="utf-8")
        secret.chmod(0o600)
        root.mkdir()
        root_cell.breaks_out_only_outside("breach_mounts", "guess", secret.stat().st_ino, ".", errnos="EPERM", root=root,
                                          cwd=root)


def test_handle_is_not_made(cell):
    cell.box.file("root/file", "text")
    cell.refused_inside("breach_mounts", "handle", "file", ".", errnos="EPERM")
