"""Readers of audit logs. docs/audit.md has the format, and says what a chain of hashes can and cannot prove."""
from __future__ import annotations

import json
from typing import Any, Callable, Dict, Iterable, List, Optional, Union

from . import _choke
from ._result import StrPath, listed, raise_call_error

__all__ = ["Report", "head", "keygen", "records", "verify"]


class Report:
    """What a reader found. It is true if nothing is wrong."""

    damage: str
    file: str
    line: int
    message: str
    files: int
    records: int
    first_seq: int
    repairs: int
    heads: int
    unchecked: int
    head: Optional[str]

    def __init__(self, fields: Dict[str, Any]) -> None:
        self.__dict__ = fields

    def __bool__(self) -> bool:
        return self.damage == "none"

    def __repr__(self) -> str:
        where = f" at line {self.line}" if self.line else ""
        return f"<chokepoint.audit.Report {self.records} records, damage: {self.damage}{where}>"


def verify(paths: Union[StrPath, Iterable[StrPath]], *, heads: Iterable[str] = (), public_key: Optional[str] = None,
           rotated: bool = False, on_record: Optional[Callable[[Dict[str, Any]], object]] = None) -> Report:
    """Reads a log from its first line to its last, and proves each record by its hash and by the one before it. Damage
    is in the report. on_record gets each proven record as a dict; it ends the reading by returning False."""
    call = None if on_record is None else lambda record: on_record(json.loads(record["text"]))
    try:
        return Report(_choke.audit_verify(listed(paths), list(heads) or None, public_key, rotated, False, call))
    except _choke.CallError as error:
        raise_call_error(error)


def records(paths: Union[StrPath, Iterable[StrPath]], *, rotated: bool = False) -> List[Dict[str, Any]]:
    """The proven records of a log, as dicts."""
    found: List[Dict[str, Any]] = []
    verify(paths, rotated=rotated, on_record=found.append)
    return found


def head(path: StrPath, *, secret_key: Optional[StrPath] = None) -> str:
    """The head of the log: its last record, as text. Keep it where those who can write the log cannot write."""
    try:
        return _choke.audit_head(path, secret_key)
    except _choke.CallError as error:
        raise_call_error(error)


def keygen(path: StrPath) -> str:
    """A new key pair: path, readable by its owner only, and path.pub. Returns the public key."""
    try:
        return _choke.audit_keygen(path)
    except _choke.CallError as error:
        raise_call_error(error)
