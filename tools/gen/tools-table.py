#!/usr/bin/python3
"""tools-table.py COMMAND [--check] - the tables of docs/tools.md, from what COMMAND prints of its default policy.

A table is between "<!-- table: NAME -->" and "<!-- end -->". Without --check the tables are rewritten. With --check a
difference is an error, and so is a tool without a table or a table without a tool.
"""
import argparse
import json
import os
import re
import subprocess
import sys

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs", "tools.md")
TABLE = re.compile(r"(<!-- table: ([^ ]+) -->\n)(.*?)(<!-- end -->\n)", re.DOTALL)


def code(words):
    """Arguments as code in a table cell."""
    return " ".join("`" + word.replace("|", "\\|") + "`" for word in words)


def by_name(options):
    """Long options first, then single letters."""
    return sorted(options, key=lambda option: (not option.startswith("--"), option.lstrip("-").lower(), option))


def operands(rules):
    text = rules["operands"]
    if rules["schemes"]:
        text += f", also after {code(scheme + ':' for scheme in rules['schemes'])}"
    if rules["first"]:
        unless = f", unless {code(rules['first_unless'])}" if rules["first_unless"] else ""
        text = f"the first {rules['first']}{unless}; then {text}"
    return text + ("; the first ends the options" if rules["order"] == "options_first" else "")


def rule_rows(name, rules):
    if rules["options"]:
        yield f"`{name}` options", code(by_name(rules["options"]))
    yield f"`{name}` operands", operands(rules)
    for key, title in (("require", "must have"), ("inject", "is given"), ("deny", "never")):
        if rules[key]:
            yield f"`{name}` {title}", code(rules[key])


def executes(names):
    """With an empty list not even the tool itself may be executed."""
    return ", ".join(["itself", *(f"`{name}`" for name in names)]) if names else "nothing"


def key_rows(prefix, subcommand):
    """What a subcommand has in place of the tool's; null is the tool's."""
    if subcommand["execs"] is not None:
        yield prefix + "may execute", executes(subcommand["execs"])
    if subcommand["uses"] is not None:
        yield prefix + "uses", code(subcommand["uses"]) or "none"
    if subcommand["set_env"] is not None:
        yield prefix + "environment", code(f"{variable['name']}={variable['value']}"
                                           for variable in subcommand["set_env"]) or "none"
    if subcommand["env"] is not None:
        yield prefix + "variables", code(subcommand["env"]) or "none"
    if subcommand["workspace"] is not None:
        yield prefix + "workspace", subcommand["workspace"]
    if subcommand["workspace_code"] is not None:
        yield prefix + "may also execute", f"{'every' if subcommand['workspace_code'] else 'no'} file beneath the root"
    if subcommand["loopback"] is not None:
        yield prefix + "loopback", "its own 127.0.0.1 and ::1" if subcommand["loopback"] else "none"
    if subcommand["require_jail"] is not None:
        yield prefix + "jail", "required" if subcommand["require_jail"] else "not required"
    if subcommand["egress"] is not None:
        yield prefix + "network", code(subcommand["egress"]) or "none"
    if subcommand["limits"] is not None:
        yield prefix + "limits", code(f"{key}: {value}" for key, value in subcommand["limits"].items() if value) or "none"


def args_rows(tool):
    name, args = tool["name"], tool["args"]
    if args["exact"]:
        yield f"`{name}` exactly", ", ".join(code(vector) for vector in args["exact"])
        return
    if not args["subcommands"] and not args["command"]:
        yield from rule_rows(name, args)
    else:
        yield from (row for row in rule_rows(name, args) if not row[0].endswith("operands"))
    if args["command"]:
        yield f"`{name}` command", "a tool of the policy, by its own entry"
    for subcommand in args["subcommands"]:
        yield from rule_rows(f"{name} {subcommand['name']}", subcommand)
        yield from key_rows(f"`{name} {subcommand['name']}` ", subcommand)


def rows(tool):
    if tool["args"] is None:
        yield "arguments", "built by the jail's adapter"
    else:
        yield from args_rows(tool)
    if tool["version_args"]:
        yield "also", code([" ".join([tool["name"], *tool["version_args"]])])
    if tool["set_env"]:
        yield "environment", code(f"{variable['name']}={variable['value']}" for variable in tool["set_env"])
    if tool["execs"] is not None:
        yield "may execute", executes(tool["execs"])
    if tool["uses"]:
        yield "uses", code(tool["uses"])
    if tool["workspace"] != "ro":
        yield "workspace", tool["workspace"]
    if tool["workspace_code"]:
        yield "may also execute", "every file beneath the root"
    if tool["loopback"]:
        yield "loopback", "its own 127.0.0.1 and ::1"
    if tool["require_jail"]:
        yield "jail", "required"
    if tool["reads"]:
        yield "reads", code(tool["reads"])
    if tool["root_at"] != "work":
        yield "root at", tool["root_at"]
    if tool["egress"]:
        yield "network", code(tool["egress"])


def table(tool):
    lines = [f"| {tool['name']} | route {tool['route']}, ADR {tool['adr']} |", "|---|---|"]
    return "\n".join(lines + [f"| {title} | {text} |" for title, text in rows(tool)]) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Write or check the tables of docs/tools.md.")
    parser.add_argument("command", help="a chokepoint")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    shown = subprocess.run([options.command, "policy", "show", "--json"], check=True, capture_output=True).stdout
    tools = {tool["name"]: tool for tool in json.loads(shown)["tools"]}
    with open(PAGE, encoding="utf-8") as stream:
        page = stream.read()
    named = [match[2] for match in TABLE.finditer(page)]
    wrong = sorted(set(tools) ^ set(named)) + sorted(name for name in set(named) if named.count(name) > 1)
    if wrong:
        sys.exit(f"docs/tools.md: one table for each tool of the policy; look at: {', '.join(wrong)}")
    fresh = TABLE.sub(lambda match: match[1] + table(tools[match[2]]) + match[4], page)
    if options.check and fresh != page:
        sys.exit("docs/tools.md is not in step with policy/default.yaml; tools/gen/tools-table.py COMMAND writes it anew")
    if fresh != page:
        with open(PAGE, "w", encoding="utf-8") as stream:
            stream.write(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())
