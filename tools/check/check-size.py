#!/usr/bin/python3
"""No file over 800 lines, no function over 70, no function with more than 6 parameters."""
import ast
import os
import sys

import csource

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLACES = ("include", "src", "tests", "bench", "examples", "tools", "bindings")
FILE_LINES = 800
FUNCTION_LINES = 70
PARAMETERS = 6
SNIPPETS = "tests/lint/"  # inputs of the linter: many have syntax errors on purpose
EXCEPTIONS = {"ck_raw"}  # a system call's number and its six arguments, as the kernel has it


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            # Fixtures of pytest are parameters, so parameters are not counted here.
            yield csource.Function(node.name, node.lineno, node.end_lineno - node.lineno + 1, 0)


def problems(path, text):
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield f"{path}:1: {lines} lines; {FILE_LINES} is the most"
    scan = {".c": csource.functions, ".h": csource.functions, ".py": python_functions}.get(os.path.splitext(path)[1])
    for function in scan(text) if scan else ():
        where = f"{path}:{function.line}: '{function.name}'"
        if function.lines > FUNCTION_LINES:
            yield f"{where} has {function.lines} lines; {FUNCTION_LINES} is the most"
        if function.parameters > PARAMETERS and function.name not in EXCEPTIONS:
            yield f"{where} has {function.parameters} parameters; {PARAMETERS} is the most"


def main():
    files = [path for path in csource.find(ROOT, PLACES, (".c", ".h", ".py", ".sh")) if not path.startswith(SNIPPETS)]
    found = [problem for path in files for problem in problems(path, csource.read(ROOT, path))]
    print("\n".join(found + [f"{len(files)} files, {len(found)} too large"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
