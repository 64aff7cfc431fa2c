"""The one way to skip a test.

A skip names the feature that is missing. CHOKE_TEST_REQUIRE is a comma-separated list of features that must be there;
where it names this one, or says "all", the skip is a failure.
"""
import os

import pytest


def skip(feature: str, why: str) -> None:
    required = os.environ.get("CHOKE_TEST_REQUIRE", "").split(",")
    if feature in required or "all" in required:
        pytest.fail(f"{feature} is required (CHOKE_TEST_REQUIRE) but missing: {why}", pytrace=False)
    pytest.skip(f"{feature}: {why}")


def needs_machine(machine: str) -> None:
    if os.uname().machine != machine:
        skip(machine, f"this machine is {os.uname().machine}")


def sanitized() -> bool:
    """A build with sanitizers is slower and larger: counts are lower there, promises are the same."""
    return os.environ.get("CHOKE_SANITIZED") == "1"


def full() -> bool:
    """make test SUITES=full: every count at its largest, no repetition left out."""
    return os.environ.get("CHOKE_TEST_FULL") == "1"


def scaled(count: int, down_to: int, usual: int = 0) -> int:
    """count in a full run, usual (or count) in other runs, down_to under the sanitizers."""
    if sanitized():
        return down_to
    return count if full() else usual or count
