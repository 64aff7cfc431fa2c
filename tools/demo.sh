#!/bin/sh
# demo.sh COMMAND [DIR] - runs gather on this repository with every tool that is available, prints the summary, and makes a
# report. The last line is the path of its page.
#
# DIR: a copy of the repository that is looked at in its place, because something may change files in this one.
# Succeeds only if every probe whose tool is installed has succeeded, and the document names the commit that is checked
# out. What is missing on this machine (a tool, docker's daemon, the network) is reported and is not an error.
set -eu
command=$(realpath "$1")
tree=${2:-.}
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A demonstration must not write to the user's audit log, nor to the cache of the user's tools.
export XDG_STATE_HOME="$work/state" XDG_CACHE_HOME="$work/cache"
document=$(dirname "$command")/gather.json
page=$(dirname "$command")/report.html

# The built-in policy finds tools in the system's directories only; this copy also searches the temporary directory.
umask 022
mkdir "$work/tools"
tools/gather-tools.sh "$work/tools" || echo 'demo.sh: continuing without the packages that npm could not fetch' >&2
sed "s|^search_path: \[|&$work/tools/bin, |; s|^adr_dir: .*|adr_dir: $(pwd)/docs/adr|" policy/default.yaml >"$work/policy.yaml"

printf '$ chokepoint gather --out %s %s\n\n' "$document" "$tree"
"$command" gather --policy "$work/policy.yaml" --out "$document" "$tree"

head=$(git -C "$tree" rev-parse --verify --quiet HEAD 2>/dev/null) || head=none
/usr/bin/python3 - "$document" "$head" <<'PROGRAM'
import json, sys

with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
probes = {probe["name"]: probe for probe in document["probes"]}
wrong = [f"{probe['name']} is {probe['state']}: {probe['reason']}" for probe in document["probes"]
         if probe["state"] not in ("ok", "tool_missing", "skipped")
         and not probe["reason"].startswith("no docker daemon answers")]
if probes["snapshot"]["state"] == "ok" and (document["commit"] or "none") != sys.argv[2]:
    wrong.append(f"the commit is {document['commit']}, and git says {sys.argv[2]}")
for line in wrong:
    print("WRONG:", line)
sys.exit(1 if wrong else 0)
PROGRAM

printf '\n$ chokepoint report %s --out %s\n\n' "$document" "$page"
"$command" report "$document" --out "$page" >/dev/null
echo "Report      $page"
