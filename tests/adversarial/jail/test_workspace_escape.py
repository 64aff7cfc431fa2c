"""Promise: What it may execute.
Attacker: a program of the repository, which an entry with `workspace_code` executes. Means: all that
the other attacks of this directory do. Their victims are copied into the root and run from there.

Expected (R86): each attack is refused as it is for a tool outside the root. Only what the root
itself may execute differs, and these attacks are not made here (OPENED).
"""
import importlib
import inspect
import pathlib

import pytest

from conftest import CELLS
from feature import full
from jails import WorkspaceCell

# They want that nothing in the root is executed, replace the victims' files or entries, have a root
# without the victims, or write beside the root, which is the jail's own /tmp here.
OPENED = {"test_jail_exec_file_written_to_the_repository", "test_jail_exec_mapping_as_code",
          "test_jail_exec_nothing_is_executed_where_the_list_is_empty", "test_jail_exec_written_program_by_the_loader",
          "test_jail_handles_hidden_file_is_not_opened", "test_jail_loader_files_where_they_may_be_written",
          "test_jail_planted_files_fifo_does_not_block", "test_jail_preload_library_of_the_repository_is_no_code",
          "test_jail_ptrace_init_is_refused_to_a_tracer", "test_jail_readonly_repository_stays_as_it_is",
          "test_jail_readonly_writable_workspace_is_written"}
# Whole files that are about the caller, a disk or time, not about the code in the jail; and about
# library directories, which are no code here.
OTHERS = {"test_jail_full_disk", "test_jail_races", "test_jail_bombs", "test_jail_leftovers", "test_jail_next_run",
          "test_jail_libraries"}

# The sample of a usual run.
SAMPLE = {"test_jail_exec", "test_jail_loader", "test_jail_mounts", "test_jail_setns", "test_jail_setuid", "test_jail_set_id",
          "test_jail_own_binary", "test_jail_sockets", "test_jail_user_namespaces", "test_jail_kernel_surfaces"}

MODULES = sorted(path.stem for path in pathlib.Path(__file__).parent.glob("test_jail_*.py")
                 if path.stem not in OTHERS and (full() or path.stem in SAMPLE))


def attacks():
    """(name, function) of every attack on a `cell` or `root_cell`, and the fixtures that these have of their own."""
    for module in map(importlib.import_module, MODULES):
        for name, thing in vars(module).items():
            if hasattr(thing, "_pytestfixturefunction"):
                yield name, thing
            elif name.startswith("test_") and {"cell", "root_cell"} & set(inspect.signature(thing).parameters):
                full_name = f"{module.__name__}_{name.removeprefix('test_')}"
                if full_name not in OPENED:
                    yield full_name, thing


globals().update(attacks())


@pytest.fixture(params=CELLS if full() else CELLS[:1])
def cell(request, once_box):
    return WorkspaceCell(once_box, request.param)


@pytest.fixture(params=CELLS if full() else CELLS[:1])
def root_cell(request, root_box):
    return WorkspaceCell(root_box, request.param)
