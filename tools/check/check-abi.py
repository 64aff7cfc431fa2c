#!/usr/bin/python3
"""check-abi.py [--write] - compares the binary interface of the headers with its list, src/libchokepoint.abi.

The list has every function with its prototype, every struct with the place of each member, and every value of an enum. A
line that has changed or is missing breaks programs that were linked before: then the soname must change (docs/adr/0081).
--write brings the list up to date; a reviewer sees in the diff whether lines were only added."""
import glob
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIST = os.path.join(TOP, "src/libchokepoint.abi")
HEAD = ("# The binary interface of libchokepoint.so.0 on 64-bit machines, written by tools/check/check-abi.py --write. A line that\n"
        "# was released never changes (docs/adr/0081). Of a member: its place and its size, in bytes.\n")


def headers_text():
    paths = sorted(glob.glob(os.path.join(TOP, "include/*.h")))
    text = "\n".join(open(path, encoding="utf-8").read() for path in paths)
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


def functions(text):
    for found in re.findall(r"^CHOKE_API (.*?);", text, re.MULTILINE | re.DOTALL):
        yield re.search(r"\b(choke_\w+)\(", found).group(1), " ".join(found.split())


def members(body):
    """Names of the members: `unsigned line, column;`, `char message[N];`, `bool (*stop)(void *data);`."""
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        pointer = re.search(r"\(\*(\w+)\)", declaration)
        if pointer:
            yield pointer.group(1)
            continue
        for part in declaration.split(","):
            yield re.search(r"(\w+)\s*(\[[^\]]*\])?$", part.strip()).group(1)


def program(text):
    lines = ["#include <chokepoint.h>", "#include <stdio.h>", "int main(void) {"]
    for name, body in re.findall(r"^struct (choke_\w+) \{(.*?)^\};", text, re.MULTILINE | re.DOTALL):
        lines.append(f'printf("struct {name} %zu\\n", sizeof(struct {name}));')
        for member in members(body):
            lines.append(f'printf("member {name}.{member} %zu %zu\\n", offsetof(struct {name}, {member}), '
                         f'sizeof(((struct {name} *)0)->{member}));')
    for body in re.findall(r"^enum choke_\w+ \{(.*?)\};", text, re.MULTILINE | re.DOTALL):
        for value in re.findall(r"\b(CHOKE_\w+)\b", body):
            lines.append(f'printf("value {value} %d\\n", (int){value});')
    return "\n".join([*lines, "return 0; }", ""])


def interface():
    """The lines of the list, from the headers."""
    text = headers_text()
    with tempfile.TemporaryDirectory() as place:
        source, binary = os.path.join(place, "abi.c"), os.path.join(place, "abi")
        with open(source, "w", encoding="utf-8") as stream:
            stream.write(program(text))
        subprocess.run(["cc", "-I", os.path.join(TOP, "include"), source, "-o", binary], check=True)
        layout = subprocess.run([binary], check=True, capture_output=True, text=True).stdout.splitlines()
    return [f"function {name}: {prototype}" for name, prototype in sorted(functions(text))] + layout


def differences(listed, found):
    for line in sorted(set(listed) - set(found)):
        yield f"changed or gone: '{line}'; if it was released, the soname must change (docs/adr/0081)"
    for line in sorted(set(found) - set(listed)):
        yield f"not in the list: '{line}'"


def main():
    found = interface()
    if sys.argv[1:] == ["--write"]:
        with open(LIST, "w", encoding="utf-8") as stream:
            stream.write(HEAD + "".join(f"{line}\n" for line in found))
        return 0
    with open(LIST, encoding="utf-8") as stream:
        listed = [line.rstrip("\n") for line in stream if not line.startswith("#")]
    wrong = list(differences(listed, found))
    if wrong:
        wrong.append("tools/check/check-abi.py --write brings src/libchokepoint.abi up to date")
    print("\n".join(wrong + [f"{len(found)} lines"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
