"""Promise: The linter.
Attacker: whoever writes the sources that are linted.

Means: names that refer to each other in cycles, that double with every line, that have a hundred
thousand values, or that need many steps to resolve, so that the resolution never ends, or is
silently given up.

Expected: it ends in time, and each call is found or the file is reported as not read in full.
"""
from feature import scaled
from linter import Tree

SECONDS = scaled(120, 240)
MANY = scaled(5000, 500)
FOUND = {"js-eval", "c-shell", "sh-eval", "sh-shell-c", "sh-xargs-shell", "not-scanned"}

ENDLESS = {
    "doubling.js": "var a0 = eval;" + "".join(f"var a{i} = c ? a{i - 1} : a{i - 1};" for i in range(1, 100))
                   + "a99('x');\n" * MANY,
    "circle.js": "".join(f"a{i} = c ? a{(i + 1) % 40} : a{(i + 2) % 40};" for i in range(40)) + "a3 = eval;"
                 + "a7('x');\n" * MANY,
    "given.js": "x = eval;" * MANY + "x('y');\n" * MANY,
    "steps.js": "var a0 = eval;" + "".join(f"var a{i} = a{i - 1};" for i in range(1, 1000)) + "a999('x');\n",
    "members.js": "globalThis" + ".self" * MANY + ".eval('x');\n",
    "wrapped.js": "(" * MANY + "eval" + ")" * MANY + "('x');\n",
    "text.js": "var s0 = 'eval';" + "".join(f"var s{i} = s{i - 1} + s{i - 1};" for i in range(1, 40))
               + "window[s39 ? 'eval' : s39]('x');\n" * 100 + "eval('x');\n",
    "circle.c": "int f(void) { " + "".join(f"a{i} = c ? a{(i + 1) % 40} : a{(i + 2) % 40}; " for i in range(40))
                + "a3 = system; " + "a7(1);\n" * MANY + "}\n",
    "macros.c": "".join(f"#define A{i} A{i + 1}\n" for i in range(1000)) + "#define A1000 system\nint x = A0(1);\n",
    "wrapped.c": "int f(void) { return " + "(" * MANY + "system" + ")" * MANY + "(1); }\n",
    "doubling.sh": "a0=eval\n" + "".join(f"a{i}=${{x:-$a{i - 1}}}\na{i}=$a{i - 1}\n" for i in range(1, 100))
                   + "$a99 x\n" * 1000,
    "prefixes.sh": "sudo " * 40 + "bash -c x\n",
    "words.sh": "xargs " + "-n 1 " * 400 + "sh -c x\n",
}


def test_a_name_is_followed_or_said_not_to_be(user_box):
    tree = Tree(user_box)
    for name, text in ENDLESS.items():
        tree.write(name, text)
    document = tree.lint("--jobs", "2", status=1, deadline=SECONDS)
    reported = {name: {one["rule"] for one in document["findings"] if one["path"] == name} for name in ENDLESS}
    missing = {name for name, rules in reported.items() if not rules & FOUND}
    assert not missing
