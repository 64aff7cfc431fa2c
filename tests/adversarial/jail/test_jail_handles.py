"""Promise: What each jail holds.
Attacker: the tool, as root. Means: open_by_handle_at (known as shocker): a file of the file system
that the repository is on, by its inode number, wherever it is.

Expected: refused. The handle of a visible file is refused too.
"""


def test_hidden_file_is_not_opened(root_cell):
    secret = root_cell.box.file("outside/secret", "of another repository", 0o600)
    root_cell.breaks_out_only_outside("breach_mounts", "guess", secret.stat().st_ino, ".", errnos="EPERM")


def test_handle_is_not_made(cell):
    cell.box.file("root/file", "text")
    cell.refused_inside("breach_mounts", "handle", "file", ".", errnos="EPERM")
