#!/usr/bin/python3
"""check-symbols.py BUILD - checks the built files: exported symbols, undefined symbols, hardening."""
import glob
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Calls with effects. The policy layer is pure and must not use them.
EFFECTS = re.compile(
    r"^(open|openat|fopen|fdopen|read|write|close|stat|lstat|fstat|readlink|realpath|access|opendir|getenv|secure_getenv|"
    r"syscall|socket|connect|kill|fork|vfork|clone|exec\w*|posix_spawnp?|system|popen|time|clock_gettime|getpid|getuid|"
    r"mmap|mmap64|open64|openat64|stat64|fopen64|getcwd|chdir|unlink|rename|printf|puts|putchar|exit|_exit|abort)$"
)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def defined(path, *options):
    """Names of the global symbols that path defines."""
    rows = (line.split() for line in output("nm", "--defined-only", "--extern-only", *options, path).splitlines())
    return {row[2].partition("@")[0] for row in rows if len(row) == 3 and row[1] != "A"}  # A: the name of a version


def versions_of_map(text):
    """{name: node} of a version script."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return {name: node for node, body in re.findall(r"(\w[\w.]*) \{(.*?)\}", text, re.DOTALL)
            for name in re.findall(r"^\s+(choke_\w+);", body, re.MULTILINE)}


def versions_of_library(path):
    rows = (line.split()[-1] for line in output("nm", "--dynamic", "--defined-only", path).splitlines())
    return dict(row.split("@@") for row in rows if "@@" in row)


def undefined(path):
    rows = (line.split() for line in output("nm", "--undefined-only", path).splitlines())
    return {row[-1].split("@")[0] for row in rows if len(row) >= 2 and row[-2] == "U"}


def foreign(names):
    return sorted(name for name in names if not name.startswith("choke_"))


def declared_names():
    names = set()
    for header in glob.glob(os.path.join(TOP, "include/*.h")):
        with open(header, encoding="utf-8") as stream:
            names |= set(re.findall(r"^CHOKE_API [^;(]*?\b(choke_\w+)\(", stream.read(), re.MULTILINE))
    return names


def check_versions(build):
    """Every declared name is in the map once, and is exported in the version that the map says (docs/adr/0081). A
    program that was linked with an older library finds its names only there."""
    with open(os.path.join(TOP, "src/libchokepoint.map"), encoding="utf-8") as stream:
        text = stream.read()
    wanted = versions_of_map(text)
    for name in sorted(declared_names() ^ set(wanted)):
        yield f"src/libchokepoint.map: '{name}' is {'not in a header' if name in wanted else 'missing'}"
    for name in sorted(set(re.findall(r"\bchoke_\w+", text))):
        if len(re.findall(rf"\b{name};", text)) > 1:
            yield f"src/libchokepoint.map: '{name}' is in it twice"
    found = versions_of_library(f"{build}/src/libchokepoint.so")
    for name in sorted(wanted):
        if found.get(name) != wanted[name]:
            yield f"libchokepoint.so: '{name}' has version {found.get(name)} and not {wanted[name]}"


def check_exports(build):
    """Both libraries export only choke_*, and everything that the headers declare."""
    declared = declared_names()
    for path, options in ((f"{build}/src/libchokepoint.so", ["--dynamic"]), (f"{build}/src/libchokepoint.a", [])):
        names = defined(path, *options)
        if foreign(names):
            yield f"{path} exports {', '.join(foreign(names))}"
        if declared - names:
            yield f"{path} lacks {', '.join(sorted(declared - names))}"
    # The command links with src/base too, so its build would not fail.
    left = sorted(name for name in undefined(f"{build}/src/libchokepoint.a") if name.startswith("ck_"))
    if left:
        yield f"{build}/src/libchokepoint.a needs {', '.join(left)}"
    if not declared:
        yield "no declaration was found in include/"


def check_without_library(build):
    """These are static programs without loader, library and undefined symbols."""
    for name in ("keeper", "bwrap-init", "witness", "door"):
        yield from check_static(f"{build}/src/chokepoint-{name}")
    # Each segment is mapped at each call of a tool through the door, and writable data would be one more.
    headers = output("readelf", "--wide", "--program-headers", f"{build}/src/chokepoint-door")
    if headers.count(" LOAD ") != 1:
        yield f"{build}/src/chokepoint-door has {headers.count(' LOAD ')} segments and not one"


def check_static(path):
    headers = output("readelf", "--wide", "--file-header", "--program-headers", path)
    if "INTERP" in headers or "DYNAMIC" in headers:
        yield f"{path} is linked dynamically"
    if "EXEC (" not in headers:
        yield f"{path} needs relocation, and it has no loader"
    if re.search(r"\bRWE\b", headers):
        yield f"{path} has memory that is writable and executable"
    if undefined(path):
        yield f"{path} needs {', '.join(sorted(undefined(path)))}"


def check_command_is_static(build):
    """The command needs no loader, so no variable puts code into it, and no run path, which its start-up code refuses."""
    path = f"{build}/chokepoint"
    headers = output("readelf", "--wide", "--program-headers", path)
    dynamic = output("readelf", "--wide", "--dynamic", path)
    for what in ("INTERP", "NEEDED", "RUNPATH", "RPATH"):
        if what in headers + dynamic:
            yield f"{path} has {what}: it is not a static program"


def imports_of(build, path):
    """What a program or library takes from libc. A static program has it from the archive: its own objects say it."""
    if path.endswith(".so"):
        return output("nm", "--dynamic", "--undefined-only", path)
    return "\n".join(output("nm", "--undefined-only", f"{build}/{name}")
                     for name in ("libchokepoint-command.a", "src/libchokepoint.a"))


def check_hardening(build):
    for path, is_program in ((f"{build}/chokepoint", True), (f"{build}/src/libchokepoint.so", False)):
        headers = output("readelf", "--wide", "--file-header", "--program-headers", path)
        dynamic = output("readelf", "--wide", "--dynamic", path)
        imports = imports_of(build, path)
        wanted = {
            "read-only relocations (RELRO)": "GNU_RELRO" in headers,
            "immediate binding (NOW)": re.search(r"FLAGS_1.*\bNOW\b", dynamic),
            "a stack that cannot be executed": re.search(r"GNU_STACK.* RW +0x", headers),
            "no memory both writable and executable": not re.search(r"\bRWE\b", headers),
            "position independence": re.search(r"FLAGS_1.*\bPIE\b", dynamic) if is_program else "DYN (" in headers,
            "no text relocations": "TEXTREL" not in dynamic,
            "stack canaries": "__stack_chk_fail" in imports,
            "checked libc calls (FORTIFY)": re.search(r"__\w+_chk\b", imports.replace("__stack_chk_fail", "")),
        }
        for what, held in wanted.items():
            if not held:
                yield f"{path} lacks {what}"


def check_policy_is_pure(build):
    directory = f"{build}/src/libchokepoint-internal.a.p"
    objects = sorted(name for name in os.listdir(directory) if re.match(r"policy_.*\.o$", name))
    for name in objects:
        effects = sorted(symbol for symbol in undefined(os.path.join(directory, name)) if EFFECTS.match(symbol))
        if effects:
            yield f"{name} must be pure, but calls {', '.join(effects)}"
    if not objects:
        yield f"no object of the policy layer is in {directory}"


def main():
    (build,) = sys.argv[1:]
    found = []
    for check in (check_exports, check_versions, check_without_library, check_command_is_static, check_hardening, check_policy_is_pure):
        found += check(build)
    print("\n".join(found + [f"{len(found)} wrong"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
