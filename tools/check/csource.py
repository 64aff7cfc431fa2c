"""C source for the checks: text without comments and literals, tokens, functions.

This is not a parser. It relies on the compiler having accepted the file, and on macros that do not hide braces.
"""
import os
import re
from dataclasses import dataclass

LITERAL = re.compile(
    r"""//(?:\\\n|[^\n])*            # a line comment, also one that a backslash continues
      | /\*.*?\*/
      | "(?:\\.|[^"\\\n])*"
      | '(?:\\.|[^'\\\n])*'""",
    re.VERBOSE | re.DOTALL,
)
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|->|\S")
HEAD = re.compile(r"([A-Za-z_]\w*)\s*\((.*)\)$", re.DOTALL)


@dataclass
class Function:
    name: str
    line: int
    lines: int
    parameters: int


def find(root, directories, suffixes=(".c", ".h")):
    """Paths of source files beneath root, relative to it, sorted."""
    found = []
    for directory in directories:
        for place, _, names in os.walk(os.path.join(root, directory)):
            found += [os.path.relpath(os.path.join(place, name), root) for name in names if name.endswith(suffixes)]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as stream:
        return stream.read()


def blank(text):
    """The same text with spaces in place of comments and literals. Line numbers do not change."""

    def spaces(match):
        kept = re.sub(r"[^\n]", " ", match.group())
        # A literal remains an operand: otherwise f("x") would look like f().
        return '""' + kept[2:] if match.group()[0] in "\"'" and len(kept) >= 2 else kept

    return LITERAL.sub(spaces, text)


def without_directives(blanked):
    """Without preprocessor lines, and their continuations."""
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m.group()), blanked, flags=re.MULTILINE)


def tokens(text):
    """(line, token) pairs outside comments and literals. Preprocessor lines count, because macros can hide calls."""
    line = 1
    for number, row in enumerate(blank(text).split("\n"), line):
        for match in TOKEN.finditer(row):
            yield number, match.group()


def drop_attributes(head):
    """The head of a declaration without __attribute__((...)): its parentheses would look like parameters."""
    while (at := head.find("__attribute__")) >= 0:
        start = head.index("(", at)
        depth = 0
        for end in range(start, len(head)):
            depth += {"(": 1, ")": -1}.get(head[end], 0)
            if depth == 0:
                break
        head = head[:at] + head[end + 1:]
    return head


def count_parameters(inside):
    if inside.strip() in ("", "void"):
        return 0
    depth = 0
    count = 1
    for c in inside:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(c, 0)
        count += c == "," and depth == 0
    return count


def function_head(head):
    """(name, number of parameters) if the text before a brace is the head of a function, else None."""
    head = drop_attributes(head).strip()
    if not head.endswith(")") or re.match(r"(typedef|extern\s+\"\")\b", head):
        return None
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(head[at], 0)
        if depth == 0:
            break
    name = re.search(r"([A-Za-z_]\w*)\s*$", head[:at])
    if name is None or "=" in head[:at]:
        return None
    return name.group(1), count_parameters(head[at + 1:-1])


def functions(text):
    """All functions in text, with their length from the first line of the head to the closing brace."""
    code = without_directives(blank(text))
    found = []
    depth = 0
    start = 0
    current = None
    for at, c in enumerate(code):
        if c == "{":
            if depth == 0:
                head = code[start:at]
                if re.fullmatch(r'\s*extern\s*""\s*', head):  # extern "C" { ... } holds declarations, not code
                    start = at + 1
                    continue
                current = function_head(head)
            depth += 1
        elif c == "}":
            depth = max(0, depth - 1)
            if depth == 0 and current is not None:
                first = code.count("\n", 0, start + len(code[start:]) - len(code[start:].lstrip())) + 1
                last = code.count("\n", 0, at) + 1
                found.append(Function(current[0], first, last - first + 1, current[1]))
                current = None
        if depth == 0 and c in ";}":
            start = at + 1
    return found
