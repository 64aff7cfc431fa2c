"""A policy under review, and the linter: they read files and run nothing."""
from __future__ import annotations

import json
from typing import Any, Dict, Iterable, List, Optional, Union

from . import _choke
from ._result import StrPath, listed, raise_call_error


class Policy:
    """A policy to look at. `Policy(path)` reads a file, wherever it is and whoever may write it; without a path it is
    the policy that a context takes without one."""

    def __init__(self, path: Optional[StrPath] = None, *, _kind: int = 0) -> None:
        try:
            self._policy = _choke.Policy(path, _kind)
        except _choke.CallError as error:
            raise_call_error(error)

    @classmethod
    def embedded(cls) -> "Policy":
        """The policy embedded in the library."""
        return cls(_kind=1)

    @classmethod
    def catalog(cls) -> "Policy":
        """Every entry that a policy can take by its name with `catalog`."""
        return cls(_kind=2)

    @property
    def file(self) -> Optional[str]:
        """The path of the file; None for the embedded policy."""
        return self._policy.file

    def check(self) -> List[Dict[str, Any]]:
        """What is wrong with it: severity, rule, message, tool, line and column of each finding."""
        try:
            return self._policy.check()
        except _choke.CallError as error:
            raise_call_error(error)

    def to_dict(self) -> Dict[str, Any]:
        """Every field, as `policy show --json` prints it. Refused if the policy is not valid."""
        try:
            document: Dict[str, Any] = json.loads(self._policy.json())
        except _choke.CallError as error:
            raise_call_error(error)
        return document

    def to_yaml(self) -> str:
        """YAML that loads back to the same verdicts."""
        try:
            return self._policy.yaml()
        except _choke.CallError as error:
            raise_call_error(error)

    def diff(self, newer: "Policy") -> List[Dict[str, Any]]:
        """What changed from this one to the newer one, and whether each change widens what may be run."""
        if not isinstance(newer, Policy):
            raise TypeError(f"newer must be a Policy, not {type(newer).__name__}")
        try:
            return self._policy.diff(newer._policy)
        except _choke.CallError as error:
            raise_call_error(error)

    def __repr__(self) -> str:
        return f"<chokepoint.Policy {self.file or 'embedded'!r}>"


def lint(paths: Union[StrPath, Iterable[StrPath], None] = None, *, root: Optional[StrPath] = None,
         config: Optional[StrPath] = None, gitignore: bool = True, jobs: int = 0) -> Dict[str, Any]:
    """Finds calls in sources that create processes without chokepoint. The fields of `lint --format json`."""
    chosen = None if paths is None else listed(paths)
    try:
        return _choke.lint(chosen, root, config, not gitignore, jobs)
    except _choke.CallError as error:
        raise_call_error(error)


def credential_kind(text: str) -> Optional[str]:
    """What kind of credential is in the text ("a GitHub token"), or None. For text that a program shows."""
    return _choke.credential_kind(text)
