#!/bin/sh
# demo.sh COMMAND - an allowed call, a refused one and a timeout, each with its JSON and its exit status.
# Succeeds only if all three did what they are here to show.
set -eu
command=$(realpath "$1")
cd "$(dirname "$0")/.."
here=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME="$work/state" # a demonstration is no entry in the user's own record
wrong=0

pretty()
{
    if command -v jq >/dev/null 2>&1; then
        jq .
    else
        /usr/bin/python3 -m json.tool
    fi
}

# field NAME... - one value of the document in $work/json, by its path.
field()
{
    /usr/bin/python3 -c '
import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]:
    value = value[key]
print(value, end="")' "$work/json" "$@"
}

# call ARGUMENT... - run the command in $root, show what it printed; its status is in $status.
call()
{
    printf '\n  $ chokepoint'
    printf ' %s' "$@"
    printf '\n'
    status=0
    (cd "$root" && "$command" "$@") >"$work/json" 2>"$work/events" || status=$?
    pretty <"$work/json" | sed 's/^/  /'
    sed 's/^/  stderr: /' "$work/events"
    echo "  exit status: $status"
}

expect()
{
    if [ "$2" = "$3" ]; then
        return
    fi
    echo "  WRONG: $1 is '$2' and should be '$3'"
    wrong=1
}

# Without a repository of its own (an unpacked archive) the demonstration makes one.
root=$here
if [ ! -e .git ] || ! git rev-parse --quiet --verify HEAD >/dev/null 2>&1; then
    root=$work/repository
    git init --quiet "$root"
    git -C "$root" -c user.name=demo -c user.email=demo@localhost commit --quiet --allow-empty -m 'A first commit'
fi

echo '1. An allowed call: git is in the policy. Its output is captured, its environment was built, nothing is left behind.'
call run --json --timeout 5 -- git rev-parse HEAD
expect 'the exit status' "$status" 0
expect 'the outcome' "$(field outcome)" exited
expect 'the commit' "$(field stdout text)" "$(git -C "$root" rev-parse HEAD)"

echo
echo '2. A refused call: bash is not in the policy, so nothing runs. The status is 125, and the error says what is allowed.'
call run --json --timeout 5 -- bash -c id
expect 'the exit status' "$status" 125
expect 'the outcome' "$(field outcome)" disallowed

echo
echo '3. A timeout: a policy of our own allows sleep. At the deadline the whole tree is killed; the status is 124.'
root=$work/elsewhere
mkdir "$root"
install -m 600 "$here/examples/demo-policy.yaml" "$work/policy.yaml"
call run --json --policy "$work/policy.yaml" --timeout 1 -- sleep 1000
expect 'the exit status' "$status" 124
expect 'the outcome' "$(field outcome)" timeout

echo
if [ "$wrong" = 0 ]; then
    echo 'All three did what they should.'
fi
exit "$wrong"
