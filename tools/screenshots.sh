#!/bin/sh
# screenshots.sh COMMAND - makes the pictures of README.md and docs/report.md again, of this repository: docs/images/*.png.
#
# Needs chromium, and what make run needs. The repository is cloned to a place whose name says nothing of this machine, because
# the pictures show it.
set -eu
command=$(realpath "$1")
cd "$(dirname "$0")/.."
images=$(pwd)/docs/images
work=/tmp/chokepoint-screenshots
mkdir -m 700 "$work"
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME="$work/state" XDG_CACHE_HOME="$work/cache"
umask 022
mkdir "$work/tools" "$work/log"
chmod 700 "$work/log"
log=$work/log/audit.jsonl
git clone -q . "$work/chokepoint"
tools/gather-tools.sh "$work/tools"
sed "s|^search_path: \[|&$work/tools/bin, |; s|^adr_dir: .*|adr_dir: $(pwd)/docs/adr|" policy/default.yaml >"$work/policy.yaml"

# shot PAGE NAME HEIGHT
shot()
{
    chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$work/profile" --force-device-scale-factor=1 \
        --window-size="1280,$3" --virtual-time-budget=5000 --screenshot="$images/$2" "file://$1" 2>/dev/null
}

cd "$work/chokepoint"
"$command" gather --policy "$work/policy.yaml" --audit "$log" --out "$work/all.json" . >/dev/null 2>&1
# Some calls that an agent may ask for; most are refused.
while read -r argv; do
    # shellcheck disable=SC2086 # a line is an argument vector
    "$command" run --policy "$work/policy.yaml" --audit "$log" -- $argv >/dev/null 2>&1 </dev/null || true
done <<LIST
git log --oneline -5
git push origin main
bash -c id
rg -n main src
rg --pre sh x
jq .name bindings/node/package.json
git -c core.pager=id log
strace sh
git status --short
LIST
"$command" report "$work/all.json" --out "$work/report.html"
"$command" audit report "$log" --out "$work/audit.html"
mkdir -p "$images"
shot "$work/report.html" report.png 1000
shot "$work/audit.html" audit-report.png 1000
ls -l "$images"
