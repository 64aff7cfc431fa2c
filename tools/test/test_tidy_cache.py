"""What clang-tidy need not look at again is only what is as it was, in all that clang-tidy would see."""
import json
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import harness  # noqa: E402
import tidy_cache  # noqa: E402

BEFORE = {"a.c": '#include "a.h"\nint a = A;\n', "a.h": "#define A 1\n"}


@pytest.fixture
def place(tmp_path):
    for name, text in BEFORE.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def look(place, *commands):
    """What is known of a.c, and its key."""
    words = commands or ("clang -O2 -MD -MQ a.o -MF a.o.d -o a.o -c a.c",)
    entries = [{"directory": str(place), "file": "a.c", "command": command} for command in words]
    (place / "compile_commands.json").write_text(json.dumps(entries))
    seen = tidy_cache.TidyCache(str(place))
    return seen, seen.key(os.path.relpath(place / "a.c", harness.ROOT))


def test_what_is_as_it_was_is_known(place):
    seen, key = look(place)
    assert not seen.knows(key)
    seen.learn(key)
    again, same = look(place)
    assert same == key and again.knows(same)
    assert not (place / "a.o").exists() and not (place / "a.o.d").exists()


@pytest.mark.parametrize("name, text", [("a.c", '#include "a.h"\nint a = A + 1;\n'), ("a.h", "#define A 2\n"),
                                        ("a.c", '#include "a.h"\nint a = A; // NOLINT\n'),
                                        ("a.c", '#include "a.h"\n\nint a = A;\n')])
def test_what_changed_is_not_known(place, name, text):
    seen, key = look(place)
    seen.learn(key)
    (place / name).write_text(text)
    again, other = look(place)
    assert other != key and not again.knows(other)


def test_another_flag_is_another_file(place):
    assert look(place)[1] != look(place, "clang -O1 -o a.o -c a.c")[1]


def test_what_cannot_be_read_is_never_known(place):
    (place / "a.h").unlink()
    seen, key = look(place)
    seen.learn(key)
    assert key is None and not seen.knows(key)


def test_a_file_is_looked_at_as_the_library_has_it(place):
    (place / "banned.h").write_text("")
    strict = "clang -include banned.h -o b.o -c a.c"
    seen, _ = look(place, strict, "clang -o a.o -c a.c")
    assert [command["command"] for command in seen.commands.values()] == [strict]
    assert len(json.loads((place / "tidied/compile_commands.json").read_text())) == 1
