"""chokepoint: the one door through which a program runs other programs.

    import chokepoint
    print(chokepoint.run(["git", "log", "-1", "--format=%H"], root=".", timeout=5).stdout)

Only tools that a reviewed policy lists are run, with the arguments, environment, directory, network and time that it grants,
in a jail where the kernel has one. docs/python.md is the manual.
"""
from . import audit
from ._choke import version as __version__
from ._context import Chunk, Context, Stream
from ._result import (Change, Denial, Egress, Error, ErrorInfo, Failed, Limit, Refused, Result, Timeout, Tool, ToolMissing)
from ._review import Policy, credential_kind, lint
from ._run import doctor, explain, run

__all__ = [
    "Change", "Chunk", "Context", "Denial", "Egress", "Error", "ErrorInfo", "Failed", "Limit", "Policy", "Refused", "Result",
    "Stream", "Timeout", "Tool", "ToolMissing", "__version__", "audit", "credential_kind", "doctor", "explain", "lint", "run",
]
