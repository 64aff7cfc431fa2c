#!/usr/bin/python3
"""No old name comes back as an identifier or a file name, and no archaic phrase comes back in text.

ARCHITECTURE's glossary has the words of this project. The tables here have what they replaced, each with the word or
wording to use instead. An entry must be certainly wrong: a phrase that is good English elsewhere is not listed.
"""
import bisect
import functools
import io
import os
import re
import subprocess
import sys
import tokenize

import csource

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Snippets, inputs and output of others, and names and phrases that are listed or tested here.
SKIPPED = ("tests/lint/", "tests/fuzz/corpus/", "tests/recordings/", "third_party/", "tools/gather-tools/",
           "tools/check/check-words.py", "tools/test/test_checks.py", "CHANGELOG.md")

# Parts of an identifier, in lower case, and what to write instead.
OLD_NAMES = {
    "account": "call_report", "bury": "retire", "caged": "native_jail", "chance": "random",
    "comet": "fork_relay", "confine": "native_no_userns", "confined": "native_no_userns", "course": "probe_run",
    "draft": "atomic_file", "engage": "assign_warden", "gitplace": "git_root",
    "guest": "event_source", "hear": "receive", "heard": "received", "heed": "handle_signal", "land": "bwrap_init",
    "law": "ruleset", "led": "via_repo_symlink", "parcel": "fd_list", "road": "direct_attempt",
    "roads": "direct_attempts", "slain": "killed", "slay": "kill", "tell": "report", "terrain": "gather_state",
    "told": "status", "town": "network", "wrap": "bwrap", "wraps": "bwrap",
    "chain_open": "tools_open", "chain_close": "jail_setup", "step_strings": "step_argv_env", "turn_over": "run_ready",
}
# Identifiers that others chose, or that mean something else, and why.
EXCEPTIONS = {
    r"__(wrap|real)_\w+": "the linker's option --wrap makes these names",
    r"napi_wrap": "a function of Node-API",
    r"wrap_(socket|bio)": "methods of Python's ssl module",
    r"esni_draft": "the drafts of the IETF for an encrypted server name",
    r"Draft\d+Validator": "a class of Python's jsonschema, for a draft of that standard",
}

# Regular expressions, without regard to case. Each is matched as whole words, and across the lines of a paragraph.
PHRASES = [
    (r"be had", "is available, can be installed"),
    (r"(?<!here )is (?-i:none)(?! of\b)", "is not valid, is not one"),
    (r"' is no", "is not a valid ..."),
    (r"(?<!every )so many(?!(?: \w+){0,3} that\b)", "that number of, COUNT, at most N"),
    (r"as many as may be", "as many as possible"),
    (r"of (?:the |a |an )?(?!one's)\w+'s own", "its, the repository's"),
    (r"no chance", "cannot get random bytes"),
    (r"at chance", "at random"),
    (r"(?:is|are) told(?! (?:(?:not )?to|apart)\b)", "is reported, is in the event"),
    (r"tells? of", "reports, names, describes"),
    (r"words in \*error", "message in *error"),
    (r"errno (?:with|and) words", "errno with *error set"),
    (r"stands? behind", "follows, comes after; supports"),
    (r"(?:NUL|blank|newline|slash|colon|moved|written|write|append|go on|goes on) behind", "after"),
    (r"take[sn] on(?! average)", "applies"),
    (r"lets? go of", "releases"),
    (r"(?:is|are|was|were|and|or) not to be", "cannot be, must not be, is not"),
    (r"mend(?:s|ed)?", "fixes, fixed"),
    (r"slays?|slain", "kills, killed"),
    (r"heed(?:s|ed)?", "handles, obeys, is used"),
    (r"dwells?", "is in"),
    (r"befalls?", "happens to"),
    (r"brings? forth", "makes, returns"),
    (r"(?:is|are|was|were|be) let through", "is allowed"),
    (r"nobody else's", "private, only the caller can write it"),
    (r"be rid of", "remove, end"),
    (r"what (?:comes|came) of", "the result of"),
    (r"roads?", "direct attempt"),
    (r"walls", "layers"),
    (r"the town", "the test network"),
    (r"whence|whither|wherein|thereof|therein|unto|naught|asunder", "the usual word"),
]
ANY_PHRASE = re.compile(rf"\b(?:{'|'.join(phrase for phrase, _ in PHRASES)})\b", re.IGNORECASE)
ANY_OLD_NAME = re.compile("|".join(OLD_NAMES), re.IGNORECASE)
MARGIN = re.compile(r"""^[ \t]*(?:/?\*+(?!\*)|\#+|//+|["'|>])?[ \t]*|[ \t"'\\]*$""")


def parts(name):
    """The words of an identifier in lower case: ck_fooBar_x is ck, foo, bar, x."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]


@functools.lru_cache(maxsize=None)
def old_parts(name):
    joined = f"_{'_'.join(parts(name))}_"
    found = [old for old in OLD_NAMES if f"_{old}_" in joined]
    return [] if any(re.fullmatch(pattern, name) for pattern in EXCEPTIONS) else found


def old_names(name):
    """Old names in an identifier or a file name, each with its replacement."""
    return [(old, OLD_NAMES[old]) for old in old_parts(name)]


def python_names(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], token.string


def other_names(text):
    """Of meson and the shell: what is assigned, called or expanded. Comments and plain words are text."""
    for number, line in enumerate(text.split("\n"), 1):
        code = re.sub(r"'[^']*'", "''", line).split("#")[0]
        for match in re.finditer(r"\$\{?([A-Za-z_]\w*)|\b([A-Za-z_]\w*)(?= ?\+?=|\()", code):
            yield number, match[1] or match[2]


def cited_names(text):
    """In any text: what is an identifier of the project by its form, as in ck_a_b() or plan->a."""
    for number, line in enumerate(text.split("\n"), 1):
        for match in re.finditer(r"\b(?:ck|CK)_\w+|->(\w+)", line):
            yield number, match[1] or match[0]


def names(path, text):
    """(line, identifier) pairs of a file, as far as its kind has any."""
    yield from cited_names(text)
    if path.endswith((".c", ".h")):
        yield from csource.tokens(text)
    elif path.endswith(".py"):
        yield from python_names(text)
    elif path.endswith((".sh", "meson.build")):
        yield from other_names(text)


def name_problems(path, text):
    for old, new in old_names(os.path.basename(path)):
        yield f"{path}:1: old name '{old}' in the file's name; use {new}"
    if not ANY_OLD_NAME.search(text):  # most files; to split all into tokens takes long
        return
    for number, name in sorted(set(names(path, text))):
        for old, new in old_names(name):
            yield f"{path}:{number}: old name '{old}' in {name}; use {new}"


def unwrapped(text):
    """The text with its lines joined, so that a phrase is found across a line break; and where each line begins.

    Marks of comments and quotes of strings are dropped at both ends of a line. An empty line still ends a phrase.
    """
    rows, starts, at = [], [], 0
    for line in text.split("\n"):
        row = re.sub(r"[ \t]+", " ", MARGIN.sub("", line)) or "\n"
        rows.append(row)
        starts.append(at)
        at += len(row) + 1
    return " ".join(rows), starts


def phrase_problems(path, text):
    joined, starts = unwrapped(text)
    for match in ANY_PHRASE.finditer(joined):
        better = next(new for phrase, new in PHRASES if re.fullmatch(phrase, match[0], re.IGNORECASE))
        number = bisect.bisect_right(starts, match.start())
        yield f"{path}:{number}: archaic: '{match[0]}'; write: {better}"


def problems(path, text):
    yield from name_problems(path, text)
    yield from phrase_problems(path, text)


def tracked():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True)
    return [name for name in listed.stdout.decode().split("\0") if name and not name.startswith(SKIPPED)]


def main():
    found, files = [], 0
    for path in tracked():
        try:
            text = csource.read(ROOT, path)
        except (FileNotFoundError, IsADirectoryError, UnicodeDecodeError):  # removed and not yet committed, a link, or not text
            continue
        files += 1
        found += problems(path, text)
    print("\n".join(found + [f"{files} files, {len(found)} old names and phrases"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
